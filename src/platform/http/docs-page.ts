import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Environment } from '../api-keys/api-key.js';
import { compiled } from '../../../devstack/paths.js';
import { ApiError } from '../../shared/errors.js';
import type { Middleware } from './context.js';

/** What the build has left for /docs (src/ops/docs/build.ts), by path. Nothing else is ever read. */
const FILES: Readonly<Record<string, { name: string; type: string }>> = {
  '/docs': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/docs/': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/docs/page.css': { name: 'page.css', type: 'text/css; charset=utf-8' },
  '/docs/page.js': { name: 'page.js', type: 'text/javascript; charset=utf-8' },
  '/docs/viewer.js': { name: 'viewer.js', type: 'text/javascript; charset=utf-8' },
  '/docs/icon.svg': { name: 'icon.svg', type: 'image/svg+xml' },
  '/docs/reference.json': { name: 'reference.json', type: 'application/json; charset=utf-8' },
};

/** Scripts, requests and everything else from this host alone. Only the viewer's styles are written into the page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

type File = { bytes: Buffer; zipped: Buffer; tag: string };

const zip = promisify(gzip);

/**
 * The documentation for people, asked for without a key. It comes from memory and is counted against no limit, so that
 * who reloads the page does not use up what the API allows.
 */
export function docsPage({ environment }: { environment: Environment }): Middleware {
  const loaded = new Map<string, Promise<File>>();

  async function load(name: string): Promise<File> {
    const content = await readFile(compiled('docs', name));
    const bytes =
      name === 'index.html'
        ? Buffer.from(content.toString().replaceAll('%environment%', environment))
        : content;
    const tag = createHash('sha256').update(bytes).digest('base64url');
    return { bytes, zipped: await zip(bytes), tag: `W/"${tag}"` };
  }

  return async (ctx, next) => {
    const file = Object.hasOwn(FILES, ctx.path) ? FILES[ctx.path] : undefined;
    if (!file) return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new ApiError('method_not_allowed');
    }
    const found = loaded.get(file.name) ?? load(file.name);
    loaded.set(file.name, found);
    // What could not be read is read again.
    found.catch(() => loaded.delete(file.name));
    const { bytes, zipped, tag } = await found;
    ctx.set('Content-Security-Policy', POLICY);
    // Kept by browsers, and asked for again: after an update no page is made of old parts and new ones.
    ctx.set('Cache-Control', 'public, no-cache');
    ctx.set('ETag', tag);
    ctx.vary('Accept-Encoding');
    ctx.type = file.type;
    ctx.status = 200;
    if (ctx.fresh) {
      ctx.status = 304;
    } else if (ctx.acceptsEncodings('gzip', 'identity') === 'gzip') {
      ctx.set('Content-Encoding', 'gzip');
      ctx.body = zipped;
    } else {
      ctx.body = bytes;
    }
  };
}
