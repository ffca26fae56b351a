/** A url taken apart so that its host stands out. */
export interface LinkParts {
  before: string;
  host: string;
  after: string;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Where the host stands within the text as it came, after a name and password if it has any; null when it is no url. */
export function linkParts(text: string): LinkParts | null {
  const match = /^([a-z][a-z\d+.-]*:\/\/)([^/?#\\]*)(.*)$/isu.exec(text);
  if (match === null) return null;
  const [, scheme = '', authority = '', after = ''] = match;
  const host = authority.lastIndexOf('@') + 1;
  return { before: scheme + authority.slice(0, host), host: authority.slice(host), after };
}

/** Whether it may be opened: https, or http to this machine, with no user or password in it (contract 10). */
export function mayOpen(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname));
}
