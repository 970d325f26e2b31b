import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { compiled } from '../../shared/package-root.js';
import { ApiError } from '../../shared/errors.js';
import type { AppContext, Middleware } from './context.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
};

type File = { bytes: Buffer; zipped: Buffer; tag: string };

const zip = promisify(gzip);

/** The files of a page for people. */
export type PageFiles = {
  /** The folder of dist/ that the build has written them to. */
  folder: string;
  /** Their names by path. No other file is read. */
  files: Readonly<Record<string, string>>;
  /** Their content policy. */
  policy: readonly string[];
  /** Runs before each of them. */
  limit?: Middleware;
  /** Completes the HTML. */
  fill?: (html: string) => string;
};

/** Serves the files of a page, without a key, from memory. */
export function pageFiles({
  folder,
  files,
  policy,
  limit = (_ctx, next) => next(),
  fill = (html) => html,
}: PageFiles): Middleware {
  const loaded = new Map<string, Promise<File>>();

  async function load(name: string): Promise<File> {
    const content = await readFile(compiled(folder, name));
    const bytes = extname(name) === '.html' ? Buffer.from(fill(content.toString())) : content;
    const tag = createHash('sha256').update(bytes).digest('base64url');
    return { bytes, zipped: await zip(bytes), tag: `W/"${tag}"` };
  }

  async function serve(ctx: AppContext, name: string): Promise<void> {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new ApiError('method_not_allowed');
    }
    const found = loaded.get(name) ?? load(name);
    loaded.set(name, found);
    // A failed read is repeated on the next request.
    found.catch(() => loaded.delete(name));
    const { bytes, zipped, tag } = await found;
    ctx.set('Content-Security-Policy', policy.join('; '));
    // Browsers revalidate their copies: after an update no page combines old files with new ones.
    ctx.set('Cache-Control', 'public, no-cache');
    ctx.set('ETag', tag);
    ctx.vary('Accept-Encoding');
    ctx.type = TYPES[extname(name)] ?? 'application/octet-stream';
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
    const name = Object.hasOwn(files, ctx.path) ? files[ctx.path] : undefined;
    return name === undefined ? next() : limit(ctx, () => serve(ctx, name));
  };
}
