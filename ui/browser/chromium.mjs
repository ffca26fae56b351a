/** A headless Chromium, driven over its pipe. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = process.env.CHROMIUM ?? 'chromium';
const LIMIT_MS = 30_000;

export class Chromium {
  #child;
  #folder;
  #session;
  #next = 0;
  #waiting = new Map();
  #rest = '';

  static async start({ width = 1180, height = 760 } = {}) {
    const one = new Chromium();
    one.#folder = mkdtempSync(join(tmpdir(), 'sayso-ui-'));
    one.#child = spawn(
      PROGRAM,
      ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', '--no-first-run', '--remote-debugging-pipe', `--user-data-dir=${one.#folder}`, 'about:blank'],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    );
    one.#child.stdio[4].setEncoding('utf8').on('data', (text) => one.#read(text));
    const { targetInfos } = await one.#send('Target.getTargets', {});
    const { targetId } = targetInfos.find((target) => target.type === 'page');
    one.#session = (await one.#send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
    await one.resize(width, height);
    return one;
  }

  #read(text) {
    const parts = (this.#rest + text).split('\0');
    this.#rest = parts.pop();
    for (const part of parts) {
      const { id, result, error } = JSON.parse(part);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error !== undefined) waiting?.reject(new Error(error.message));
      else waiting?.resolve(result);
    }
  }

  #send(method, params) {
    const id = (this.#next += 1);
    const session = this.#session === undefined ? {} : { sessionId: this.#session };
    this.#child.stdio[3].write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} was not answered`)), LIMIT_MS);
      this.#waiting.set(id, { resolve: (value) => (clearTimeout(timer), resolve(value)), reject: (why) => (clearTimeout(timer), reject(why)) });
    });
  }

  resize(width, height) {
    return this.#send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  }

  async goto(url) {
    await this.#send('Page.navigate', { url: 'about:blank' });
    await this.#send('Page.navigate', { url });
    await this.until('the page is there', "document.querySelector('nav, main') !== null");
  }

  /** The value of an expression; promises are awaited. */
  async value(expression) {
    const { result, exceptionDetails } = await this.#send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression holds. */
  async until(what, expression) {
    const end = Date.now() + LIMIT_MS;
    while (!(await this.value(`Boolean(${expression})`))) {
      if (Date.now() > end) throw new Error(`${what}: not within ${LIMIT_MS} ms. The page shows: ${await this.value('document.body.innerText')}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async keyDown(key, modifiers = 0) {
    const text = key.length === 1 ? { text: key } : {};
    await this.#send('Input.dispatchKeyEvent', { type: key.length === 1 ? 'keyDown' : 'rawKeyDown', key, code: codeOf(key), windowsVirtualKeyCode: CODES[key] ?? key.toUpperCase().codePointAt(0), modifiers, ...text });
  }

  async keyUp(key, modifiers = 0) {
    await this.#send('Input.dispatchKeyEvent', { type: 'keyUp', key, code: codeOf(key), windowsVirtualKeyCode: CODES[key] ?? key.toUpperCase().codePointAt(0), modifiers });
  }

  async press(key, modifiers = 0) {
    await this.keyDown(key, modifiers);
    await this.keyUp(key, modifiers);
  }

  async mouse(type, x, y) {
    await this.#send('Input.dispatchMouseEvent', { type, x, y, button: type === 'mouseMoved' ? 'none' : 'left', clickCount: 1 });
  }

  async screenshot(path) {
    const { data } = await this.#send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(path, Buffer.from(data, 'base64'));
  }

  async close() {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await gone;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

const CODES = { Enter: 13, Escape: 27, Tab: 9, ArrowDown: 40, ArrowUp: 38, ArrowLeft: 37, ArrowRight: 39, Home: 36, End: 35 };
const codeOf = (key) => (key === ' ' ? 'Space' : /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : key);
