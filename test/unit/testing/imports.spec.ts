import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

it('./testing imports nothing of @nestjs/testing but types', () => {
  const imports = readdirSync('lib/testing', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => readFileSync(`lib/testing/${file}`, 'utf8').split(';'))
    .filter((statement) => statement.includes("'@nestjs/testing'"));
  expect(imports.map((statement) => statement.trim())).toEqual([
    "import type { TestingModuleBuilder } from '@nestjs/testing'",
  ]);
});
