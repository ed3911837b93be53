#!/usr/bin/env node
import { ProcessTerminal } from './process-terminal.js';
import { runCommandLine } from './run-command-line.js';

const terminal = new ProcessTerminal(process);
void runCommandLine(process.argv.slice(2), process.env, terminal).then((code) => terminal.end(code));
