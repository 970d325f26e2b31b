// Hooks of Node.js that load the TypeScript files of this repository, as jest's transformer would.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import { compiledOf, folder } from './compiled.cjs';

const OPTIONS = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'es6' },
  sourceMaps: true,
  swcrc: false,
};

mkdirSync(folder, { recursive: true });

const TESTS = new URL('../../', import.meta.url).href;

/**
 * A relative import of a .js file means the .ts file beside it. A module of the tests takes the query of the test file that
 * imports it, so that each test file has its own.
 */
export async function resolve(specifier, context, next) {
  const parent = context.parentURL;
  if (!parent || !specifier.startsWith('.') || !specifier.endsWith('.js')) {
    return next(specifier, context);
  }
  const url = new URL(`${specifier.slice(0, -3)}.ts`, parent);
  if (!existsSync(fileURLToPath(url))) return next(specifier, context);
  if (url.href.startsWith(TESTS)) url.search = new URL(parent).search;
  return { url: url.href, format: 'module', shortCircuit: true };
}

export async function load(url, context, next) {
  if (!url.startsWith('file:') || !new URL(url).pathname.endsWith('.ts')) return next(url, context);
  return { format: 'module', source: compile(fileURLToPath(url)), shortCircuit: true };
}

function compile(file) {
  const { source, codeFile, mapFile } = compiledOf(file);
  if (existsSync(codeFile)) return readFileSync(codeFile, 'utf8');
  const { code, map } = transformSync(source, { ...OPTIONS, filename: file });
  write(mapFile, map);
  write(codeFile, code);
  return code;
}

/** Other workers read the same files, so they appear whole. */
function write(file, text) {
  const part = `${file}-${process.pid}`;
  writeFileSync(part, text);
  renameSync(part, file);
}
