import type { Environment } from '../../platform/api-keys/api-key.js';
import type { Middleware } from '../../platform/http/context.js';
import { pageFiles } from '../../platform/http/page-files.js';

/** The files in dist/console, which the build copies from page/ (src/ops/docs/build.ts). */
const NAMES = [
  'index.html',
  'page.css',
  'icon.svg',
  'main.js',
  'api.js',
  'dom.js',
  'format.js',
  'kinds.js',
  'acts.js',
  'sign-in.js',
  'inbox.js',
  'record.js',
  'search.js',
  'tenant.js',
];

/**
 * Scripts, styles and requests of this host alone, nothing inline. Trusted types: a script that turns a text into HTML throws
 * instead, so no text of a tenant or a provider becomes a script.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/**
 * Serves the console of operators at /console/, without a sign-in: its files have no data, and each of their calls signs in. All
 * addresses are relative, so that it also works below a path of a proxy.
 */
export function consolePage({
  environment,
  listed,
}: {
  environment: Environment;
  /** Rows of a list of the operator API, at most. */
  listed: number;
}): Middleware {
  const serve = pageFiles({
    folder: 'console',
    files: {
      '/console/': 'index.html',
      ...Object.fromEntries(NAMES.map((name) => [`/console/${name}`, name])),
    },
    policy: POLICY,
    fill: (html) =>
      html.replaceAll('%environment%', environment).replaceAll('%listed%', String(listed)),
  });
  return (ctx, next) => {
    if (ctx.path !== '/console') return serve(ctx, next);
    ctx.redirect('console/');
    return undefined;
  };
}
