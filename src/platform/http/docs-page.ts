import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Environment } from '../api-keys/api-key.js';
import { compiled } from '../../shared/package-root.js';
import { ApiError } from '../../shared/errors.js';
import type { AppContext, Middleware } from './context.js';

/** The files that the build writes for /docs (src/ops/docs/build.ts), by path. No other file is read. */
const FILES: Readonly<Record<string, { name: string; type: string }>> = {
  '/docs': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/docs/': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/docs/page.css': { name: 'page.css', type: 'text/css; charset=utf-8' },
  '/docs/page.js': { name: 'page.js', type: 'text/javascript; charset=utf-8' },
  '/docs/viewer.js': { name: 'viewer.js', type: 'text/javascript; charset=utf-8' },
  '/docs/icon.svg': { name: 'icon.svg', type: 'image/svg+xml' },
  '/docs/reference.json': { name: 'reference.json', type: 'application/json; charset=utf-8' },
};

/**
 * Scripts, requests and images come from this host only. Inline styles are allowed because the viewer writes its own.
 */
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

/** Serves the documentation for people, without a key, from memory. `limit` runs before each of its files. */
export function docsPage({
  environment,
  limit,
}: {
  environment: Environment;
  limit: Middleware;
}): Middleware {
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

  async function serve(ctx: AppContext, file: (typeof FILES)[string]): Promise<void> {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new ApiError('method_not_allowed');
    }
    const found = loaded.get(file.name) ?? load(file.name);
    loaded.set(file.name, found);
    // A failed read is repeated on the next request.
    found.catch(() => loaded.delete(file.name));
    const { bytes, zipped, tag } = await found;
    ctx.set('Content-Security-Policy', POLICY);
    // Browsers revalidate their copies: after an update no page combines old files with new ones.
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
  }

  return (ctx, next) => {
    const file = Object.hasOwn(FILES, ctx.path) ? FILES[ctx.path] : undefined;
    return file ? limit(ctx, () => serve(ctx, file)) : next();
  };
}
