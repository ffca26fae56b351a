import { describe, expect, it } from 'vitest';
import { linkParts, mayOpen } from './link';

describe('links', () => {
  it.each([
    ['https://accounts.example.com/authorize?x=1', 'accounts.example.com', true],
    ['http://127.0.0.1:8080/', '127.0.0.1:8080', true],
    ['http://localhost/a', 'localhost', true],
    ['http://example.com/', 'example.com', false],
    ['https://good.example@evil.example/', 'evil.example', false],
    ['https://user:pw@example.com', 'example.com', false],
    ['file:///etc/passwd', '', false],
    ['javascript:alert(1)', null, false],
    ['not a url', null, false],
  ])('%s', (text, host, opens) => {
    expect(linkParts(text)?.host ?? null).toBe(host);
    expect(mayOpen(text)).toBe(opens);
  });

  it('keep the text whole', () => {
    const parts = linkParts('https://a.example/p?q#f');
    expect(`${parts?.before}${parts?.host}${parts?.after}`).toBe('https://a.example/p?q#f');
  });
});
