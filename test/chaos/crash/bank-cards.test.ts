import {
  approve,
  cardClient,
  startCardService,
  type CardClient,
  type Reaction,
} from '../../sandbox-bank/issuer/support.js';
import {
  bankClient,
  eventually,
  removeBuild,
  removeFolder,
  spawnBank,
  temporaryFolder,
  type BankProcess,
} from '../../sandbox-bank/support.js';

let folder: string;
let react: () => Reaction;
let service: Awaited<ReturnType<typeof startCardService>>;
let bank: BankProcess;
let client: CardClient;

beforeEach(async () => {
  folder = temporaryFolder();
  react = approve;
  service = await startCardService(() => react());
  await start();
});

afterEach(async () => {
  await bank.kill();
  await service.close();
  removeFolder(folder);
});

afterAll(removeBuild);

async function start(): Promise<void> {
  bank = await spawnBank(folder, { SANDBOX_BANK_CARD_CALLBACK_URL: service.url });
  client = cardClient(bankClient(bank.url));
}

async function crash(): Promise<void> {
  await bank.kill();
  await start();
}

test('the issuer keeps everything that it answered before kill -9', async () => {
  const { card, reference } = await client.newCard();
  const [funded, pending, failing] = ['789', '006', '007'].map((suffix) =>
    client.fundingRequest(card, suffix),
  );
  if (!funded || !pending || !failing) throw new Error('three orders');
  for (const request of [funded, pending, failing, failing]) await client.fund(request);
  const taken = client.fundingRequest(card, '789');
  await client.fund(taken);
  await client.reverse(taken.reference);
  await client.setState(card, 'locked', 4);
  await client.setState(card, 'open', 5);
  expect((await client.setState(card, 'locked', 6, '002')).status).toBe(422);
  const { body: authorization } = await client.authorize(card);
  const { body: cleared } = await client.authorize(card);
  await client.end(cleared.token, { outcome: 'cleared', amount_minor: 700 });
  await service.wait(cleared.token, 2);

  const known = async () => ({
    card: (await client.show(card)).body,
    lookup: (await client.lookupCard(reference)).body,
    fundings: await Promise.all(
      [funded, pending, failing, taken].map(async (request) => {
        return (await client.lookup(request.reference)).body;
      }),
    ),
    effects: await client.effects(),
  });
  const before = await known();
  await crash();
  expect(await known()).toEqual(before);

  // The issuer continues from its stored state.
  expect((await client.fund(funded)).body).toMatchObject({ status: 'funded' });
  expect((await client.fund(failing)).status).toBe(500);
  expect((await client.fund(failing)).body.status).toBe('funded');
  expect((await client.setState(card, 'locked', 4)).body.error?.code).toBe('superseded');
  expect((await client.setState(card, 'locked', 6, '002')).status).toBe(422);
  expect((await client.setState(card, 'locked', 6, '002')).body.state).toBe('locked');
  expect((await client.reportOutcome(pending.reference, 'funded')).body.status).toBe('funded');
  const { body: end } = await client.end(authorization.token, { outcome: 'reversed' });
  expect(end.status).toBe('authorization_reversed');
  const { body: again } = await client.end(cleared.token, {
    outcome: 'cleared',
    amount_minor: 700,
  });
  expect(again).toMatchObject({ status: 'cleared', amount_minor: 700 });
  const seqs = (await client.effects()).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, i) => i + 1));
});

test('a card, a funding and a reversal that were scheduled before kill -9 still happen, with their callbacks', async () => {
  const { card } = await client.newCard();
  const issued = client.cardRequest('001');
  const later = client.fundingRequest(card, '001');
  const reversed = client.fundingRequest(card, '008');
  await client.issue(issued);
  for (const request of [later, reversed]) await client.fund(request);
  await crash();

  for (const { reference } of [issued, later, reversed]) await service.wait(reference, 1);
  expect(await client.kinds(issued.reference)).toEqual(['issued']);
  expect(await client.kinds(later.reference)).toEqual(['funded']);
  expect(await client.kinds(reversed.reference)).toEqual(['funded', 'funding_reversed']);
});

test('an authorization that kill -9 interrupted is declined, and the service is notified to release the hold', async () => {
  const { card } = await client.newCard();
  react = () => null;
  const cut = client.authorize(card).catch(() => 'cut');
  const token = await eventually(() => service.received[0]?.body.data.reference);
  await crash();

  expect(await cut).toBe('cut');
  const event = await eventually(() =>
    service.about(token).find(({ body }) => body.event === 'card.declined'),
  );
  expect(event.body.data).toMatchObject({ card, amount_minor: 5_000, code: 'no_answer' });
  expect(await client.kinds(token)).toEqual(['declined']);
});
