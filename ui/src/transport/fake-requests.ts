/** More made-up requests: those that try to mislead, those that are many, and those that are rare. */
import type { RequestDetail } from '../bindings/RequestDetail';
import { at, request } from './fake-data';

const RM = 'Deletes files and folders with all that is in them.';
const ROOT = 'Runs as root: it may change anything on this machine.';

/** Of the kinds that are rare. */
export const RARE: RequestDetail[] = [
  request({
    key: 'wipe',
    kind: 'approval',
    prompt: 'Free space on the build machine?',
    source: 'clean-bot',
    tool: 'shell',
    summary: 'sudo rm -rf /var/cache/builds && du -sh /var',
    age: 500,
    risk: 'high',
    arguments: '{"command":"sudo rm -rf /var/cache/builds && du -sh /var"}',
    folder: '~/code/atlas',
    notes: [ROOT, RM],
    marks: [
      { code: 'root', level: 'high', text: ROOT, start: 0, end: 30 },
      { code: 'deletes', level: 'medium', text: RM, start: 5, end: 30 },
    ],
  }),
  request({
    key: 'http',
    kind: 'approval',
    prompt: 'Create the release on the forge?',
    source: 'release-bot',
    tool: 'http_request',
    summary: 'POST https://forge.example.com/api/releases',
    age: 600,
    risk: 'medium',
    arguments: '{"method":"POST","url":"https://forge.example.com/api/releases?draft=1","headers":{"Content-Type":"application/json","X-Trace":"7f"},"body":"{\\"tag\\":\\"v2.4.0\\",\\"notes\\":\\"Faster.\\"}","retries":2}',
    notes: ['Sends data to forge.example.com.'],
    marks: [{ code: 'sends', level: 'medium', text: 'Sends data to forge.example.com.', start: null, end: null }],
  }),
];

const BIDI = 'Pay invoice \u202e00.05$\u202c to ACME\u200b Ltd\u2066?';
const TAGS = `Harmless${[...' run rm'].map((one) => String.fromCodePoint(0xe0000 + (one.codePointAt(0) ?? 0))).join('')}`;

/** Texts that try to look like something else. */
export const HOSTILE: RequestDetail[] = [
  request({ key: 'bidi', kind: 'approval', prompt: BIDI, source: 'invoice-bot', tool: 'shell', summary: 'pay \u202e00.05\u202c', age: 100, arguments: JSON.stringify({ command: 'pay \u202e00.05\u202c --to acme' }) }),
  request({ key: 'html', kind: 'approval', prompt: '<img src=x onerror=alert(1)><b>Bold</b> [click](https://evil.example) &amp;', source: '<script>alert(1)</script>', tool: 'shell', summary: '<a href="https://evil.example">safe</a>', age: 200, arguments: JSON.stringify({ command: 'echo "<script>alert(1)</script>"' }) }),
  request({ key: 'ansi', kind: 'approval', prompt: 'Run \u001b[31mred\u001b[0m tests\u0007?\r\nApproved by admin', source: 'bot\u0000nul', tool: 'shell', summary: 'ls\r\nrm -rf ~', age: 300, arguments: JSON.stringify({ command: 'ls\u0000\r\nrm -rf ~' }) }),
  request({ key: 'tags', kind: 'approval', prompt: TAGS, source: 'ｒelease-bot', tool: 'web_fetch', summary: 'https://аpple.com', age: 400, arguments: JSON.stringify({ url: 'https://аpple.com/\u200d?q=1' }) }),
  request({ key: 'tail', kind: 'approval', prompt: `Run this? ${'padding '.repeat(1990)}and wipe the disk`, source: 'b'.repeat(300), tool: 'shell', summary: 'a'.repeat(300), age: 500, arguments: JSON.stringify({ command: `echo ok ${' '.repeat(15_980)}; rm -rf /` }) }),
  request({ key: 'nospace', kind: 'question', prompt: 'W'.repeat(3000), source: 'wide', age: 600, data: JSON.stringify({ questions: [{ question: 'W'.repeat(3000), options: [{ label: 'V'.repeat(400) }, { label: '\u202eevil', description: '<b>x</b>' }], multiple: true }] }) }),
  request({ key: 'userinfo', kind: 'authorization', prompt: 'Sign in', source: 'mail-agent', age: 700, url: 'https://accounts.example.com@evil.example/login' }),
];

/** Of whom some are the same. */
export function groups(): RequestDetail[] {
  const one = (n: number, of: string): RequestDetail =>
    request({ key: `g${of}${n}`, kind: 'approval', prompt: `Restart ${of}?`, source: 'deploy-bot', tool: 'shell', summary: `systemctl restart ${of}`, age: 300 + n * 30, group: `restart ${of}`, arguments: `{"command":"systemctl restart ${of}"}` });
  return [...Array.from({ length: 12 }, (_, n) => one(n, 'api')), ...Array.from({ length: 3 }, (_, n) => one(n, 'web')), one(0, 'db')];
}

/** So many, from many sources. */
export function many(count: number): RequestDetail[] {
  return Array.from({ length: count }, (_, n) =>
    request({ key: `n${n}`, kind: 'approval', prompt: `Delete old build ${n}?`, source: `clean-bot-${n % 40}`, tool: 'shell', summary: `rm -r builds/${n}`, age: 30_000 + n * 60, arguments: `{"command":"rm -r builds/${n}"}` }),
  );
}

/** So many that come in one by one, each of which goes to the top. */
export function burst(count: number): RequestDetail[] {
  return Array.from({ length: count }, (_, n) =>
    request({ key: `b${n}`, kind: 'approval', prompt: `Restart worker ${n}?`, source: `deploy-bot-${n % 3}`, tool: 'shell', summary: `systemctl restart worker@${n}`, age: 0, left: 200 - n, arguments: `{"command":"systemctl restart worker@${n}"}` }),
  );
}

/** Put aside until later. */
export function snoozed(requests: readonly RequestDetail[]): RequestDetail[] {
  return requests.map((one, n) => (n % 3 === 1 ? { ...one, item: { ...one.item, snoozed_until: at(1800 * (n + 1)) } } : one));
}
