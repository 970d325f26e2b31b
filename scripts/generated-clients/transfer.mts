// Makes a transfer with the types of openapi-typescript, as its user would. Prints what the service has answered.
// scripts/client-generators.mjs compiles it beside the generated `api.ts`; test/chaos/clients runs it.
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

declare const process: { env: Record<string, string> };
declare const setTimeout: (then: () => void, ms: number) => void;

const client = createClient<paths>({
  baseUrl: process.env.BURSAR_URL,
  headers: { authorization: `Bearer ${process.env.BURSAR_KEY}` },
});

const ORDER: components['schemas']['NewTransferToRecipient'] = {
  amount_minor: 150_000,
  recipient_account: '0123456789',
  recipient_bank_code: '058',
  narration: 'Rent for May',
  currency: 'NGN',
};

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 500));

/** Repeats a request that a busy service answers with 503: its key makes that safe. */
async function create(key: string, body: components['schemas']['NewTransfer']) {
  for (;;) {
    const params = { header: { 'Idempotency-Key': key } };
    const answer = await client.POST('/api/v1/transfers', { params, body });
    if (answer.response.status !== 503) return answer;
    await pause();
  }
}

async function created(key: string): Promise<components['schemas']['Transfer']> {
  const { data, error } = await create(key, ORDER);
  if (!data) throw new Error(JSON.stringify(error));
  return data.data;
}

async function ended(id: string): Promise<string> {
  for (;;) {
    const { data, error } = await client.GET('/api/v1/transfers/{id}', {
      params: { path: { id } },
    });
    if (!data) throw new Error(JSON.stringify(error));
    const { status } = data.data;
    if (status === 'completed' || status === 'failed') return status;
    await pause();
  }
}

const { id } = await created('typescript-1');
const repeated = await created('typescript-1');
const { error } = await create('typescript-2', { ...ORDER, amount_minor: 100_000_000 });
const status = await ended(id);
console.log(JSON.stringify({ id, repeated: repeated.id, status, refused: error?.error.code }));
