// Bugs that are seeded into a copy of dist/; the checker of random faults must find each. Production code contains
// none of them.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * `patches`: file, original text (exactly once in the file) and replacement. `env`: settings of the service. `only`: the
 * workloads that meet the bug, if not transfers. `seenBy`: the violation that the checker must report.
 */
export const SEEDED_BUGS = {
  'verify-off': {
    what: 'an order that was not answered is sent again, and nobody asks before',
    patches: [
      [
        'workflows/instruction/progress.js',
        'return pollAgain({ ...answered, errors: progress.errors + 1 }, result, rules);',
        "return answered.submissions < 3 ? [answered, { do: 'submit', afterMs: 0 }] : pollAgain({ ...answered, errors: progress.errors + 1 }, result, rules);",
      ],
    ],
    seenBy: /was paid \d+ times/,
  },
  'hold-guard-off': {
    // The database's validator would reject the write too, so a random-fault run removes that validator.
    what: 'a wallet gives what it does not have',
    patches: [
      [
        'src/core/outgoing-payments/outgoing-payment.js',
        'if (wallet.availableMinor < payment.total_minor) {',
        'if (wallet.availableMinor < -1000000000000n) {',
      ],
    ],
    seenBy: /was read at -|is at -/,
  },
  'claim-outside': {
    what: 'a key is claimed beside the transaction that it protects',
    patches: [
      [
        'src/core/commit/store.js',
        'await keys.insertMany(writes.newKeys.map(fromKey), bulk);',
        'await keys.insertMany(writes.newKeys.map(fromKey), { ordered: false });',
      ],
    ],
    seenBy: /was accepted as .*, and is there 0 times/,
  },
  'release-unknown': {
    what: 'what was not answered counts as refused, and its hold goes back',
    patches: [
      [
        'workflows/instruction/progress.js',
        'return pollAgain({ ...answered, errors: progress.errors + 1 }, result, rules);',
        "return [answered, { do: 'applyOutcome', fact: { kind: 'rejected', code: 'provider_declined', via: 'provider_answer', providerRequestId: null } }];",
      ],
    ],
    seenBy: /is failed and paid/,
  },
  'callback-unguarded': {
    what: 'the fact of a provider event is booked, whatever the status of its record',
    patches: [
      [
        'src/core/instructions/held-transitions.js',
        'if (isOpen(record))\n        return transitionOpen',
        "if (isOpen(record) || fact.via === 'webhook')\n        return transitionOpen",
      ],
    ],
    seenBy: /provider_events open|is (?:received|failed) after \d+ tries/,
  },
  'increment-forgotten': {
    what: 'an increment of a card payment is approved, and nothing is held for it',
    patches: [
      [
        'src/capabilities/card-authorizations/mutations.js',
        'held_minor: holdMinor,',
        'held_minor: known.messages.length > 0 ? 0n : holdMinor,',
      ],
    ],
    only: 'cards,wallets',
    seenBy: /approved \d+ without a hold of it/,
  },
  'over-clearing-unseen': {
    what: 'more is cleared than was approved and is tolerated, and no operator is called',
    patches: [
      [
        'src/capabilities/card-authorizations/transitions.js',
        'return isOverCleared({ clearedMinor, approvedMinor }, terms)',
        'return isOverCleared({ clearedMinor: 0n, approvedMinor }, terms)',
      ],
    ],
    only: 'cards,wallets',
    seenBy: /took \d+ of \d+ approved, and calls no operator/,
  },
  'reversal-to-card': {
    what: 'all that comes back of a card payment goes to the card, whoever paid',
    patches: [
      [
        'src/capabilities/card-authorizations/payers.js',
        'while (rest > 0n) {',
        "otherwise = 'card';\n    while (false) {",
      ],
    ],
    only: 'cards,wallets',
    seenBy: /was paid by .+, by its facts by/,
  },
  'partial-clearing-ends-hold': {
    what: 'a clearing that is not the last one releases the rest of the hold',
    patches: [
      [
        'src/capabilities/card-authorizations/facts.js',
        'const left = fact.final ? 0n : without(heldMinor, byHold);',
        'const left = 0n;',
      ],
    ],
    only: 'cards,wallets',
    seenBy: /\/clear(-\d+)?: by its fact -?\d+ is held/,
  },
  'merchant-refund-ignored': {
    what: 'a refund of a merchant is stored with the card payment, and moves nothing',
    patches: [
      [
        'src/capabilities/card-authorizations/facts.js',
        'status: knownStatus(status), refundedMinor: refundedMinor + amount };',
        'status: knownStatus(status), refundedMinor };',
      ],
    ],
    only: 'cards,wallets',
    seenBy: /\/refund(-\d+)?: by its fact 0 is held/,
  },
  'dispute-ignored': {
    what: 'a report about a dispute of a charge is taken, and changes nothing',
    patches: [
      [
        'src/capabilities/disputes/store.js',
        'applyFact: (charge, about, fact) => groupCommit.commit(applyDisputeFact, {',
        "applyFact: async (charge, about, fact) => ({ verdict: 'unchanged' }) ?? groupCommit.commit(applyDisputeFact, {",
      ],
    ],
    only: 'charges,wallets',
    seenBy: /the dispute .+ is not booked/,
  },
  'desk-refund-ignored': {
    what: "a refund that was made at the provider's own desk is not recorded",
    patches: [
      [
        'src/capabilities/refunds/store.js',
        'async recordDeskRefund(charge, made) {',
        "async recordDeskRefund(charge, made) { if (made) return 'unchanged';",
      ],
    ],
    only: 'charges,wallets',
    seenBy: /was refunded \d+ times at the desk, and \d+ are booked/,
  },
  'refund-failure-ignored': {
    what: 'a refund that fails after it was made stays completed',
    patches: [
      [
        'src/capabilities/refunds/transitions.js',
        'const known = meantBy(refund, fact);',
        "const meant = meantBy(refund, fact); const known = refund.status === 'completed' && meant.kind === 'reversed' ? { ...meant, kind: 'succeeded' } : meant;",
      ],
    ],
    only: 'charges,refunds,wallets',
    seenBy: /is completed and not refunded/,
  },
  'lease-off': {
    // A process that takes its time between the read of a wallet and its first write: a short run meets the bug then.
    what: 'processes write one wallet side by side, each from the copy that it has read',
    patches: [
      [
        'src/core/commit/forwarding.js',
        'if (!contended.has(input.tenantId))\n                return null;',
        'return null;',
      ],
      [
        'src/core/commit/store.js',
        'return wallets.find({ _id: { $in: [...new Set(tenants)] } }, { session }).toArray();',
        'const found = await wallets.find({ _id: { $in: [...new Set(tenants)] } }).toArray(); await new Promise((resolve) => setTimeout(resolve, 100)); return found;',
      ],
      [
        'src/core/commit/store.js',
        'filter: { _id: tenantId, version: wallet.version - 1n },',
        'filter: { _id: tenantId },',
      ],
    ],
    seenBy: /the wallet says -?\d+, its postings -?\d+/,
  },
  'watchdog-off': {
    // The workflows of some transfers fail their tasks, so that there is something to notice.
    what: 'nobody notices a workflow that makes no progress',
    patches: [
      ['worker/watchdog.js', 'await store.raiseStalled(attentionAfterMs, now)', '0'],
      [
        'workflows/transfer.js',
        'export async function transfer(input) {',
        "export async function transfer(input) { if (/[0-7]$/.test(input.id)) throw new TypeError('seeded');",
      ],
    ],
    env: { BURSAR_ATTENTION_AFTER_MS: '10000', BURSAR_STALL_TIMEOUT_MS: '5000' },
    seenBy: /transfers open, \d+ of them without attention/,
  },
};

/** Returns the patched file. Throws if the code has changed so that the patch no longer applies. */
function patched(name, folder, [file, from, to]) {
  const parts = readFileSync(join(folder, file), 'utf8').split(from);
  if (parts.length !== 2) {
    throw new Error(`${name}: ${file} has ${parts.length - 1} times, not once: ${from}`);
  }
  return parts.join(to);
}

/** Throws unless every seeded bug still applies to dist/. */
export function checkSeededBugs() {
  for (const [name, { patches }] of Object.entries(SEEDED_BUGS)) {
    for (const patch of patches) patched(name, join(root, 'dist'), patch);
  }
}

/** Returns a copy of dist/ with this bug, with the workflows bundled again; the caller removes it. */
export function seedBug(name) {
  const { patches, env = {} } = SEEDED_BUGS[name] ?? {};
  if (!patches)
    throw new Error(`no such seeded bug: ${name}; there are ${Object.keys(SEEDED_BUGS).join()}`);
  const folder = mkdtempSync(join(tmpdir(), `bursar-seeded-bug-${name}-`));
  const dist = join(folder, 'dist');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    cpSync(join(root, 'dist'), dist, { recursive: true });
    for (const shared of ['package.json', 'node_modules']) {
      symlinkSync(join(root, shared), join(folder, shared));
    }
    for (const patch of patches) writeFileSync(join(dist, patch[0]), patched(name, dist, patch));
    const bundle = spawnSync(process.execPath, [join(dist, 'worker', 'bundle.js')], {
      stdio: 'inherit',
    });
    if (bundle.status !== 0) throw new Error(`${name}: the workflows could not be bundled`);
    return { dist, env, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
