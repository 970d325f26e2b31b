import { attentionIndex, nextCheckIndex } from '../../platform/database/indexes.js';
import type { CollectionSpec } from '../../platform/database/migrations.js';

const long = { bsonType: 'long' };
const string = { bsonType: 'string' };
const pursued = { enum: ['pending', 'processing', 'completed', 'failed'] };

export const paymentTokensCollection: CollectionSpec = {
  name: 'payment_tokens',
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'version', 'type', 'customer', 'status', 'provider'],
    properties: {
      tenant_id: string,
      type: { enum: ['card', 'bank_account'] },
      status: { enum: ['unbound', 'active', 'revoked'] },
      version: { bsonType: 'int' },
    },
  },
  indexes: [{ key: { tenant_id: 1, 'customer.id': 1, created_at: -1, _id: -1 } }],
};

/** What lists of charges are read from, each in its order to the last tie. */
export const CHARGE_INDEXES = {
  byCreation: { tenant_id: 1, created_at: -1, _id: -1 },
  byStatus: { tenant_id: 1, status: 1, created_at: -1, _id: -1 },
  byCustomer: { tenant_id: 1, 'customer.id': 1, created_at: -1, _id: -1 },
} as const;

export const chargesCollection: CollectionSpec = {
  name: 'charges',
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'version',
      'status',
      'reference',
      'amount_minor',
      'attempt',
      'submissions',
    ],
    properties: {
      tenant_id: string,
      reference: string,
      status: pursued,
      capture_mode: { enum: ['customer_action_required', 'merchant_initiated'] },
      amount_minor: { ...long, minimum: 1 },
      refunded_minor: { ...long, minimum: 0 },
      refund_pending_minor: { ...long, minimum: 0 },
      provider_fee_minor: { bsonType: ['long', 'null'] },
      attempt: { bsonType: 'int', minimum: 1 },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, reference: 1 }, unique: true },
    ...Object.values(CHARGE_INDEXES).map((key) => ({ key })),
    {
      key: { 'recurring.id': 1, 'recurring.period': 1 },
      unique: true,
      partialFilterExpression: { 'recurring.id': { $type: 'string' } },
    },
    nextCheckIndex,
    attentionIndex,
  ],
};

export const refundsCollection: CollectionSpec = {
  name: 'refunds',
  validator: {
    bsonType: 'object',
    required: [
      'tenant_id',
      'version',
      'status',
      'reference',
      'charge_id',
      'amount_minor',
      'submissions',
    ],
    properties: {
      tenant_id: string,
      reference: string,
      charge_id: string,
      status: pursued,
      amount_minor: { ...long, minimum: 1 },
      version: { bsonType: 'int' },
      submissions: { bsonType: 'int' },
    },
  },
  indexes: [
    { key: { tenant_id: 1, reference: 1 }, unique: true },
    { key: { charge_id: 1, created_at: 1 } },
    nextCheckIndex,
    attentionIndex,
  ],
};

export const RECURRING_INDEXES = {
  byCreation: { tenant_id: 1, created_at: -1, _id: -1 },
  byStatus: { tenant_id: 1, status: 1, created_at: -1, _id: -1 },
} as const;

export const recurringChargesCollection: CollectionSpec = {
  name: 'recurring_charges',
  validator: {
    bsonType: 'object',
    required: ['tenant_id', 'version', 'status', 'payment_token_id', 'amount_minor', 'next_period'],
    properties: {
      tenant_id: string,
      status: { enum: ['active', 'paused', 'past_due', 'ended', 'cancelled'] },
      amount_minor: { ...long, minimum: 1 },
      version: { bsonType: 'int' },
      next_period: { bsonType: 'int', minimum: 0 },
      charged_periods: { bsonType: 'int', minimum: 0 },
      unpaid: { bsonType: 'array' },
    },
  },
  indexes: [...Object.values(RECURRING_INDEXES).map((key) => ({ key })), nextCheckIndex],
};
