import type { HistoryDetail } from '../bindings/HistoryDetail';
import type { RequestDetail } from '../bindings/RequestDetail';
import { field, textOf, tryParse, write } from '../text/json';

/** A decision's request as it was shown when it waited. */
export function requestOf({ item, tool, arguments: args, folder, diff, notes, digest }: HistoryDetail): RequestDetail {
  const wire = tryParse(item.request);
  const data = field(wire, 'data');
  return {
    item: {
      key: item.key,
      kind: item.kind,
      prompt: item.prompt,
      summary: item.summary,
      source: item.source,
      run: item.run,
      tool,
      state: item.outcome,
      received_at: item.received_at,
      expires_at: null,
      digest,
      // It is decided: nothing is left to be careful with.
      risk: 'low',
      snoozed_until: null,
      group: digest,
      plain: false,
    },
    prompt: item.prompt,
    request: item.request,
    arguments: args,
    editable: null,
    choices: [],
    data: data === undefined ? null : write(data),
    url: textOf(wire, 'url') ?? null,
    folder,
    diff,
    notes,
    marks: [],
    trail: [],
    decision: null,
  };
}
