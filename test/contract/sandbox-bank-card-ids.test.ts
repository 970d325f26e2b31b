import type { CardFundingRequest, CardIssuer } from '../../src/core/providers/card-issuer.js';
import { createSandboxBankIssuer } from '../../src/core/providers/sandbox-bank/card-adapter.js';
import { startSandboxBank, type RunningSandboxBank } from '../../sandbox-bank/server.js';
import { newId } from '../../src/shared/ids.js';
import { cardClient, startCardService } from '../sandbox-bank/issuer/support.js';
import {
  bankClient,
  optionsAt,
  removeFolder,
  SECRET,
  temporaryFolder,
} from '../sandbox-bank/support.js';

const never = new AbortController().signal;
const UNKNOWN = { kind: 'unknown' };

let folder: string;
let bank: RunningSandboxBank;
let service: Awaited<ReturnType<typeof startCardService>>;
let issuer: CardIssuer;
let card: string;

/** An issuer that finds nothing by our references. */
beforeAll(async () => {
  folder = temporaryFolder();
  service = await startCardService();
  bank = await startSandboxBank({
    dataDir: folder,
    secret: SECRET,
    cardCallbackUrl: service.url,
    cardLookup: 'id',
  });
  issuer = createSandboxBankIssuer({ ...optionsAt(bank.url), cardLookup: 'id' });
  const issued = await issuer.issue(cardOrder('789'), never);
  if (issued.kind !== 'issued') throw new Error(`the card is ${issued.kind}`);
  card = issued.card;
});
afterAll(async () => {
  await bank.close();
  await service.close();
  removeFolder(folder);
});

const cardOrder = (ending: string) => ({
  reference: newId('card'),
  clientReference: `customer-${ending}`,
  type: 'virtual' as const,
  name: null,
  requestedAt: new Date(),
});
const fundingOrder = (ending: string): CardFundingRequest => ({
  reference: newId('cardOperation'),
  clientReference: `order-${ending}`,
  card,
  amountMinor: 700n,
  currency: 'NGN',
  requestedAt: new Date(),
});

/** The id in an answer. */
function idIn(answer: { kind: string; handle?: string }): string {
  if (answer.handle === undefined) throw new Error(`the answer (${answer.kind}) names no id`);
  return answer.handle;
}

test('a card is found by the id of its order, also before it is issued', async () => {
  for (const ending of ['789', '001']) {
    const { reference, ...order } = cardOrder(ending);
    const answer = await issuer.issue({ reference, ...order }, never);
    const { kind } = answer;
    expect(await issuer.findCard({ reference, handle: idIn(answer) }, never)).toMatchObject({
      kind,
    });
  }
});

test('a funding is found and reversed by its id, and an unloading is found by its own', async () => {
  const order = fundingOrder('006');
  const answer = await issuer.fund(order, never);
  const about = { reference: order.reference, handle: idIn(answer) };
  expect(await issuer.findFunding(about, never)).toMatchObject({ kind: 'pending' });
  expect(await issuer.reverseFunding(about, never)).toMatchObject({ kind: 'reversed' });
  const other = fundingOrder('789');
  const funded = { reference: other.reference, handle: idIn(await issuer.fund(other, never)) };
  expect(await issuer.findFunding(funded, never)).toMatchObject({ kind: 'funded' });
  const unload = fundingOrder('789');
  const unloaded = await issuer.unload?.(unload, never);
  const { reference } = unload;
  const given = { reference, handle: unloaded ? idIn(unloaded) : null };
  expect(await issuer.findUnload?.(given, never)).toMatchObject({ kind: 'unloaded' });
});

test('a dispute is found and withdrawn by its id', async () => {
  const { body } = await cardClient(bankClient(bank.url)).authorize(card, { amount_minor: 500 });
  const order = {
    ...fundingOrder('789'),
    token: body.token,
    reason: 'fraud' as const,
    explanation: 'The cardholder did not pay.',
  };
  const answer = await issuer.submitDispute?.(order, never);
  const about = { reference: order.reference, handle: answer ? idIn(answer) : null };
  expect(await issuer.findDispute?.(about, never)).toMatchObject({ kind: 'dispute' });
  expect(await issuer.withdrawDispute?.(about, never)).toMatchObject({ kind: 'withdrawn' });
});

test('without an id, or with one of another order, nothing is known: not that nothing was done', async () => {
  const [first, second] = [fundingOrder('789'), fundingOrder('789')];
  await issuer.fund(first, never);
  const other = idIn(await issuer.fund(second, never));
  for (const handle of [null, 'funding-999', other]) {
    const about = { reference: first.reference, handle };
    const answers = await Promise.all([
      issuer.findFunding(about, never),
      issuer.findUnload?.(about, never),
      issuer.findCard(about, never),
      issuer.findDispute?.(about, never),
      issuer.withdrawDispute?.(about, never),
      ...(handle === other ? [] : [issuer.reverseFunding(about, never)]),
    ]);
    for (const answer of answers) expect(answer).toMatchObject(UNKNOWN);
  }
  expect(
    await issuer.findFunding({ reference: second.reference, handle: other }, never),
  ).toMatchObject({ kind: 'funded' });
});
