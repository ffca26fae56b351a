/** A url taken apart so that its host stands out. */
export interface LinkParts {
  before: string;
  host: string;
  after: string;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Where the host stands within the text as it came; null when it is no url. */
export function linkParts(text: string): LinkParts | null {
  const match = /^([a-z][a-z\d+.-]*:\/\/)([^/?#\\]*)(.*)$/isu.exec(text);
  return match === null ? null : { before: match[1] ?? '', host: match[2] ?? '', after: match[3] ?? '' };
}

/** Whether it may be opened: https, or http to this machine, with no user or password in it (contract 10). */
export function mayOpen(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname));
}
