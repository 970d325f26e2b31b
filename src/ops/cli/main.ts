#!/usr/bin/env node
import { newProgram, runProgram } from './program.js';

await runProgram(newProgram(), process.argv.slice(2));
