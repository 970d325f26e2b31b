import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { BARE_OPENING, commentsOf, exportsOf, sourceFiles } from '../../scripts/structure.mjs';

/** Words of earlier versions. docs/glossary.md has the words that took their places. */
const RETIRED: readonly RegExp[] = [
  /pursui|\bpursued?\b/i,
  /\bletOut|\bhandOver|\bhandOn\b|\bsetOut\b/,
  /\bwaves?\b|Wave\b|Waves\b/,
  /\bmend-?driver\b/i,
  /tryHere|\bcallHere\b|\bwaveHere\b|HERE_SHARE|submit\w+Here|issueCardHere|setCardStateHere/,
  /\bsweep\w*/i,
  /\bwatch_until\b|\bnot_taken\b|\bheld_of\b|\bpaid_as\b|\bprovider_refund\b/,
  /(?<!\$)\bunwind\w*/i,
  /\baskings?\b|askedAgain|askingsOf/i,
  /\badoption|adoptionPosting|adopted\b/i,
  /\bstorms?\b|\bmonkey\b|\bPAWS\b|crash-plants|\bplants\b|plants\.mjs/i,
  /\bcreatePulse\b|pulse\.js|\bcreatePaced\b|paced\.js|\bcreateAhead\b/,
  /\btransfer_batches\b|\bcard_event_replays\b|\bcwe_/,
  /\bCardStanding\b|\breadStanding\b|\bnoteOperator\b|\bnoteCancellation\b/,
  /card-event\/|card-control|cardControl|cardIssuing|card-issuing/i,
  /\btransfers send\b|callback not understood|left to the (?:dispatcher|sweep)/,
  /crash:(?:points|storm|plants|failover|outages)|\bnpm run proof\b/,
];

/** Everything that people read: code, comments, messages, docs, the document of the API, recorded histories. */
const FILES = execFileSync('git', ['ls-files'], { encoding: 'utf8', maxBuffer: 1 << 25 })
  .split('\n')
  .filter((file) => /\.(?:ts|mts|mjs|js|md|json|yml|py)$|^\.ci\/run$|^Dockerfile$/.test(file))
  .filter(
    (file) =>
      !/^(?:package-lock\.json|CHANGELOG\.md|docs\/decisions\/0014|test\/contract\/vocabulary\.test\.ts|test\/replay\/histories\/)/.test(
        file,
      ),
  );

const ALL_SOURCES = sourceFiles([
  'src',
  'workflows',
  'activities',
  'worker',
  'sandbox-bank',
  'devstack',
  'test',
  'bench',
  'client/src',
]);

describe('the vocabulary of docs/glossary.md', () => {
  test('no retired word is used', () => {
    const found = FILES.flatMap((file) => {
      const lines = readFileSync(file, 'utf8').split('\n');
      return lines.flatMap((line, i) =>
        RETIRED.flatMap((word) => {
          const [hit] = word.exec(line) ?? [];
          return hit === undefined ? [] : [`${file}:${i + 1}: ${hit}`];
        }),
      );
    });
    expect(found).toEqual([]);
  });

  test('no comment begins with a bare What, Who, Whose, Whom, Whoever or Whatever', () => {
    const bare = /^(?:What|Who|Whose|Whom|Whoever|Whatever)\b/;
    const found = ALL_SOURCES.flatMap((file) =>
      commentsOf(readFileSync(file, 'utf8'))
        .filter((comment) => bare.test(comment) && !comment.endsWith('?'))
        .map((comment) => `${file}: ${comment.slice(0, 80)}`),
    );
    expect(found).toEqual([]);
  });

  test('fewer than 3 % of all comments begin with What, Who, Whose, Whether, How, Where, When or Which', () => {
    const comments = sourceFiles().flatMap((file) => commentsOf(readFileSync(file, 'utf8')));
    const openings = comments.filter((comment) => BARE_OPENING.test(comment));
    expect(openings.length / comments.length).toBeLessThan(0.03);
  });

  test('at least nine exports in ten have a sentence', () => {
    const exported = sourceFiles().flatMap((file) => exportsOf(readFileSync(file, 'utf8')));
    const documented = exported.filter((each) => each.documented);
    expect(documented.length / exported.length).toBeGreaterThanOrEqual(0.9);
  });
});
