import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { eventually } from './eventually.js';

/** Programs that understand the DevTools protocol. BURSAR_BROWSER names another one. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The browser of this machine. Throws without one: a proof in a browser is never skipped silently. */
function findBrowser(): string {
  const wanted = process.env['BURSAR_BROWSER'];
  const found = (wanted ? [wanted] : NAMES).find(
    (name) => spawnSync(name, ['--version']).status === 0,
  );
  if (found !== undefined) return found;
  throw new Error(
    'no browser found: install Chromium (Debian, Ubuntu: apt-get install chromium), or set BURSAR_BROWSER',
  );
}

type Message = {
  id?: number;
  method?: string;
  sessionId?: string;
  params?: object;
  result?: Record<string, unknown>;
  error?: { message: string };
};

/** A browser without a window. */
export type Browser = Awaited<ReturnType<typeof openBrowser>>;
/** A tab. */
export type Page = Awaited<ReturnType<Browser['open']>>;

/** Starts the browser with a profile of its own. It is driven by the DevTools protocol over a pipe, without a port. */
export async function openBrowser() {
  const profile = mkdtempSync(join(tmpdir(), 'bursar-browser-'));
  const child = spawn(
    findBrowser(),
    [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--disable-background-networking',
      '--remote-debugging-pipe',
      `--user-data-dir=${profile}`,
      'about:blank',
    ],
    // A group of its own, so that its processes end together.
    { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable];
  const waiting = new Map<number, (message: Message) => void>();
  const events: Message[] = [];
  let sent = 0;
  let text = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (text + chunk).split('\0');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const message = JSON.parse(part) as Message;
      if (message.id === undefined) events.push(message);
      else waiting.get(message.id)?.(message);
    }
  });

  async function send(method: string, params: object = {}, sessionId?: string) {
    const id = (sent += 1);
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    input.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`);
    const { result = {}, error } = await answer;
    waiting.delete(id);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  return {
    /** Opens an address in a context of its own: another person's browser, with a storage of its own. */
    async open(url: string, { width = 1300, height = 1000 } = {}) {
      const { browserContextId } = await send('Target.createBrowserContext');
      const { targetId } = await send('Target.createTarget', { url, browserContextId });
      const attached = await send('Target.attachToTarget', { targetId, flatten: true });
      const page = String(attached['sessionId']);
      const metrics = { width, height, deviceScaleFactor: 1, mobile: false };
      await send('Emulation.setDeviceMetricsOverride', metrics, page);
      await send('Runtime.enable', {}, page);
      await send('Log.enable', {}, page);
      return pageOf(
        (method, params) => send(method, params, page),
        () => events.filter(({ sessionId }) => sessionId === page),
      );
    },
    async close() {
      const ended = once(child, 'exit');
      process.kill(-Number(child.pid), 'SIGKILL');
      await ended;
      await eventually('the profile is removed', () => {
        rmSync(profile, { recursive: true, force: true });
        return true;
      });
    },
  };
}

type Send = (method: string, params?: object) => Promise<Record<string, unknown>>;

/** Finds the element of a label, or the button or link of a text. It runs in the page. */
const FIND = `
  const visible = (element) => element.getClientRects().length > 0;
  const top = document.querySelector('dialog[open]') ?? document;
  const labelled = (name) =>
    [...top.querySelectorAll('label')].find((each) => each.innerText.trim().startsWith(name))
      ?.querySelector('input, select');
  const clickable = (name) =>
    [...top.querySelectorAll('button, a')].find((each) => visible(each) && each.innerText.trim() === name);
`;

function pageOf(send: Send, eventsOf: () => Message[]) {
  /** The value of a function body in the page; undefined if it throws, as while the page loads. */
  async function evaluate(body: string): Promise<unknown> {
    const expression = `(() => { ${FIND} ${body} })()`;
    const { result } = await send('Runtime.evaluate', { expression, returnByValue: true });
    return (result as { value?: unknown } | undefined)?.value;
  }
  const text = async () => String(await evaluate('return document.body.innerText'));
  const until = (what: string, body: string) =>
    eventually(what, async () => ((await evaluate(body)) === true ? true : undefined));

  return {
    evaluate,
    text,
    /** Waits until the page shows this text. */
    sees: (wanted: string) =>
      eventually(`the page shows ${wanted}`, async () => {
        const shown = await text();
        if (shown.includes(wanted)) return shown;
        throw new Error(shown);
      }),
    /** Presses the button, or follows the link, of this name. */
    press: (name: string) =>
      until(
        `there is ${name}`,
        `const found = clickable(${JSON.stringify(name)}); if (!found || found.disabled) return false; found.click(); return true;`,
      ),
    /** Types into the field of this label. */
    async fill(label: string, value: string) {
      await until(
        `there is ${label}`,
        `const found = labelled(${JSON.stringify(label)}); found.value = ''; found.focus(); return document.activeElement === found;`,
      );
      await send('Input.insertText', { text: value });
    },
    /** Sets the box of this label. */
    check: (label: string) =>
      until(
        `there is ${label}`,
        `const found = labelled(${JSON.stringify(label)}); found.checked = true; return true;`,
      ),
    /** Presses a key in the focused element. */
    async key(key: string) {
      const pressed = {
        key,
        code: key,
        windowsVirtualKeyCode: key === 'Enter' ? 13 : 27,
        text: key === 'Enter' ? '\r' : '',
      };
      await send('Input.dispatchKeyEvent', { type: 'keyDown', ...pressed });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...pressed });
    },
    /** Errors of scripts, and what the content policy refused. */
    problems: () =>
      eventsOf().filter(
        ({ method, params }) =>
          method === 'Runtime.exceptionThrown' ||
          (method === 'Log.entryAdded' && JSON.stringify(params).includes('"source":"security"')),
      ),
    /** Writes a picture of the page. */
    async picture(file: string) {
      const { data } = await send('Page.captureScreenshot', { format: 'png' });
      writeFileSync(file, Buffer.from(String(data), 'base64'));
    },
  };
}
