import type { Command } from 'commander';
import { examineService } from '../doctor/doctor.js';
import { addConfigCommand } from './command.js';
import { printTable } from './print.js';

export function addDoctorCommand(program: Command): void {
  addConfigCommand(
    program,
    'doctor',
    (command) =>
      command.description('whether all that the service stands on is right; exit code 1 if not'),
    async (config, { json }) => {
      const checks = await examineService(config);
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
