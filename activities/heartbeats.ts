import { Context } from '@temporalio/activity';

const HEARTBEAT_MS = 3_000;

/** Sends heartbeats for the present activity until its work has ended. */
export async function withHeartbeats<Result>(work: () => Promise<Result>): Promise<Result> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
