import { ERRORS, type ErrorCode } from '../../shared/errors.js';
import type { AppContext } from './context.js';

/** The position in a list, by page (transfers) or by offset (cards). Both fill the same `pagination` object. */
export type Position = { page: number; limit: number } | { offset: number; limit: number };

const offsetOf = (position: Position): number =>
  'page' in position ? (position.page - 1) * position.limit : position.offset;

/**
 * Sends the success envelope. `data` comes from a presenter; a bigint in it is a programming error and becomes a 500.
 */
export function sendData(ctx: AppContext, status: number, data: unknown): void {
  if (data !== null && typeof data === 'object' && 'id' in data) ctx.state.resource = data.id;
  sendBytes(ctx, status, JSON.stringify({ success: true, data }));
}

/** Sends the success envelope of a list, with the pagination object. */
export function sendList(
  ctx: AppContext,
  items: readonly unknown[],
  position: Position & { total: number },
): void {
  const { limit, total } = position;
  const offset = offsetOf(position);
  const pagination = {
    page: Math.floor(offset / limit) + 1,
    limit,
    total,
    pages: Math.ceil(total / limit),
    has_more: offset + items.length < total,
  };
  sendBytes(ctx, 200, JSON.stringify({ success: true, data: items, pagination }));
}

/** Sends one page of a list that is completely in memory. */
export function sendPage(ctx: AppContext, all: readonly unknown[], position: Position): void {
  const offset = offsetOf(position);
  const items = all.slice(offset, offset + position.limit);
  sendList(ctx, items, { ...position, total: all.length });
}

/** Sends a finished envelope byte for byte: a saved response that is repeated. */
export function sendBytes(ctx: AppContext, status: number, json: string): void {
  if (status >= 400) ctx.state.errorCode = errorCodeIn(json);
  ctx.status = status;
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = json;
}

/** The code of an error envelope, for log and metrics. Undefined for other answers, such as those to an issuer. */
function errorCodeIn(json: string): ErrorCode | undefined {
  const { error } = JSON.parse(json) as { error?: { code?: string } };
  const code = error?.code ?? '';
  return Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : undefined;
}
