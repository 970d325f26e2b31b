import type { Database } from '../database/client.js';
import type { Card } from './card.js';
export function createCardStore({ db }: Database) {
  const collection = db.collection<Card>('cards');
  return { get: (tenant: string, id: string) => collection.findOne({ _id: id, tenant }) };
}
