import type { HistoryDetail } from '../bindings/HistoryDetail';
import type { RequestDetail } from '../bindings/RequestDetail';
import type { Risk } from '../bindings/Risk';
import { field, textOf, tryParse, write } from '../text/json';

/** The whole prompt, where the list cuts it. */
export function promptOf({ item }: HistoryDetail): string {
  return textOf(tryParse(item.request), 'prompt') ?? item.prompt;
}

/** A decision's request as it was shown when it waited. */
export function requestOf(detail: HistoryDetail): RequestDetail {
  const { item, folder, diff, digest, notes } = detail;
  const wire = tryParse(item.request);
  const data = field(wire, 'data');
  // It is decided: nothing is left to be careful with.
  const risk: Risk = 'low';
  const asked = {
    key: item.key,
    kind: item.kind,
    prompt: promptOf(detail),
    summary: item.summary,
    source: item.source,
    run: item.run,
    tool: detail.tool,
    state: item.outcome,
    received_at: item.received_at,
    expires_at: null,
    request: item.request,
    digest,
    risk,
    snoozed_until: null,
    group: item.key,
    plain: false,
  };
  const request = {
    item: asked,
    prompt: asked.prompt,
    request: item.request,
    arguments: detail.arguments,
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
  return request;
}
