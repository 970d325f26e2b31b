import type { Command } from 'commander';
import { addPlainCommand } from './command.js';
import { printTable } from './print.js';
import { whileWaiting } from './progress.js';

/** Adds the command that checks the service and its dependencies. */
export function addDoctorCommand(program: Command): void {
  addPlainCommand(
    program,
    'doctor',
    (command) => command,
    async ({ json }) => {
      const [{ examineService }, { findService }] = await Promise.all([
        import('../doctor/doctor.js'),
        import('../../shared/find-service.js'),
      ]);
      const checks = await whileWaiting(() => examineService(findService()));
      if (json) printTable(json, checks);
      else {
        printTable(
          json,
          checks.map(({ check, ok, detail }) => ({ check, ok: ok ? 'ok' : 'WRONG', detail })),
        );
        for (const { check, hint } of checks) if (hint !== null) console.log(`${check}: ${hint}`);
      }
      if (checks.some(({ ok }) => !ok)) process.exitCode = 1;
    },
  );
}
