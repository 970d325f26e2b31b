import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A running OpenID provider; see oidc-issuer.mjs. */
export type TestIssuer = { url: string; close(): void };

/** Starts an OpenID provider in a process of its own. */
export async function startIssuer(): Promise<TestIssuer> {
  const script = fileURLToPath(new URL('oidc-issuer.mjs', import.meta.url));
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const errors: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => void errors.push(chunk.toString()));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    child.once('exit', () => reject(new Error(`the issuer ended: ${errors.join('')}`)));
  });
  const { issuer } = JSON.parse(line) as { issuer: string };
  return { url: issuer, close: () => void child.kill() };
}

/** Gives a person these roles at the issuer, in place of those in the name; the next token has them. */
export async function changeRoles(
  { url }: TestIssuer,
  login: string,
  roles: string[],
): Promise<void> {
  const query = new URLSearchParams({ login });
  for (const role of roles) query.append('role', role);
  await fetch(`${url}/tests/roles?${query.toString()}`, { method: 'PUT' });
}

/** Exchanges the key by which the issuer signs. It publishes the new one alone. */
export async function exchangeKey({ url }: TestIssuer): Promise<void> {
  await fetch(`${url}/tests/keys`, { method: 'PUT' });
}

/** A page with a form, as a browser has it. */
type Page = { url: string; html: string };

/**
 * Does in the browser what a person does who signs in on another device: opens the address that the device shows, confirms the
 * code, signs in with this name, and consents.
 */
export async function approveDevice(address: string, login: string): Promise<void> {
  const cookies = new Map<string, string>();
  let page = await open(cookies, address);
  for (let steps = 0; page.html.includes('<form'); steps += 1) {
    if (steps > 8) throw new Error(`the sign-in does not end: ${page.html}`);
    page = await submit(cookies, page, { login, password: 'any' });
  }
}

async function open(
  cookies: Map<string, string>,
  url: string,
  form?: URLSearchParams,
): Promise<Page> {
  const response = await fetch(url, {
    redirect: 'manual',
    headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    ...(form && { method: 'POST', body: form }),
  });
  for (const cookie of response.headers.getSetCookie()) {
    const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split(/=(.*)/);
    cookies.set(name, value);
  }
  const next = response.headers.get('location');
  if (next !== null) return open(cookies, new URL(next, url).href);
  return { url, html: await response.text() };
}

/** Submits the form of a page: its hidden fields, and those that a person fills in. */
function submit(
  cookies: Map<string, string>,
  { url, html }: Page,
  filled: Record<string, string>,
): Promise<Page> {
  const action = /<form[^>]*action="([^"]*)"/.exec(html)?.[1] ?? url;
  const form = new URLSearchParams();
  for (const [input] of html.matchAll(/<(?:input|button)[^>]*>/g)) {
    const name = /name="([^"]*)"/.exec(input)?.[1];
    const value = /value="([^"]*)"/.exec(input)?.[1] ?? '';
    // The button that refuses is no field of a person who agrees.
    if (name === undefined || name === 'abort') continue;
    form.set(name, filled[name] ?? value);
  }
  return open(cookies, new URL(action, url).href, form);
}
