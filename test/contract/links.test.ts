import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';

const PAGES = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  cwd: packageRoot,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((page) => existsSync(join(packageRoot, page)));

/** The text without its code, in which brackets are no links and # is no heading. */
const withoutCode = (text: string) =>
  text
    .replace(/^(`{3,}).*?\n[^]*?^\1$/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ' '));

/** The anchors of a page: its headings, as GitHub names them. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  const text = readFileSync(join(packageRoot, page), 'utf8').replace(
    /^(`{3,}).*?\n[^]*?^\1$/gm,
    '',
  );
  for (const [, heading = ''] of text.matchAll(/^#{1,6} (.+)$/gm)) {
    const name = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-');
    let anchor = name;
    for (let n = 1; anchors.has(anchor); n += 1) anchor = `${name}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The links of a page that lead into this repository, with the reason why one does not. */
function brokenLinks(page: string): string[] {
  const text = withoutCode(readFileSync(join(packageRoot, page), 'utf8'));
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    // An address that begins with a slash is one of a running service, on its page of documentation.
    if (/^(?:[a-z]+:|\/)/.test(link)) return [];
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(packageRoot, target))) return [`${page}: ${link} does not exist`];
    if (anchor === undefined || !target.endsWith('.md')) return [];
    return anchorsOf(target).has(anchor) ? [] : [`${page}: ${link} has no such heading`];
  });
}

test('every relative link and anchor of the README and of all pages leads to a file and a heading', () => {
  expect(PAGES).toEqual(expect.arrayContaining(['README.md', 'docs/operating.md']));
  expect(PAGES.flatMap(brokenLinks)).toEqual([]);
});

test('a link to a missing file or heading is found', () => {
  expect(anchorsOf('docs/operating/backup-and-archive.md')).toContain('backup-and-restore');
  expect(anchorsOf('docs/operating/backup-and-archive.md')).not.toContain('no-such-heading');
});
