// The client of all examples: the address and the key come from the environment, else from the running `npm start`.
import { readFileSync } from 'node:fs';
import { createClient } from '@bursar/client';

const dev = process.env.BURSAR_API_URL ? null : readDevFile();

export const bursar = createClient({
  baseUrl: process.env.BURSAR_API_URL ?? dev.api_url,
  key: process.env.BURSAR_API_KEY ?? dev.keys.secret,
});

/** The sandbox bank plays the customers and merchants. There is none in live. */
export const bank = process.env.SANDBOX_BANK_URL ?? dev?.sandbox_bank_url;

/** Amounts are integers in kobo: 100 kobo are one naira. */
export const naira = (kobo) =>
  `₦${(kobo / 100).toLocaleString('en', { minimumFractionDigits: 2 })}`;

/**
 * Reads again until `isOver`, for at most a minute, and returns the last state. A bank may take hours to answer: a service
 * would receive webhooks instead of polling.
 */
export async function until(read, isOver) {
  const end = Date.now() + 60_000;
  for (;;) {
    const { data } = await read();
    if (isOver(data) || Date.now() > end) return data;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

function readDevFile() {
  const home = process.env.BURSAR_HOME ?? new URL('../.bursar', import.meta.url).pathname;
  return JSON.parse(readFileSync(`${home}/dev.json`, 'utf8'));
}
