import type { Environment } from '../api-keys/api-key.js';
import type { Middleware } from './context.js';
import { pageFiles } from './page-files.js';

/** The files that the build writes for /docs (src/ops/docs/build.ts), by path. */
const FILES = {
  '/docs': 'index.html',
  '/docs/': 'index.html',
  '/docs/page.css': 'page.css',
  '/docs/page.js': 'page.js',
  '/docs/viewer.js': 'viewer.js',
  '/docs/icon.svg': 'icon.svg',
  '/docs/reference.json': 'reference.json',
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
];

/** Serves the documentation for people, without a key, from memory. `limit` runs before each of its files. */
export const docsPage = ({
  environment,
  limit,
}: {
  environment: Environment;
  limit: Middleware;
}): Middleware =>
  pageFiles({
    folder: 'docs',
    files: FILES,
    policy: POLICY,
    limit,
    fill: (html) => html.replaceAll('%environment%', environment),
  });
