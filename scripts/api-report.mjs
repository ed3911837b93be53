// Writes down the public types, one report for each entry point of the package, into api-report. With --check it writes nothing, prints what
// differs, and fails if something does. It reads the built declarations: run `npm run build` first.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';

const FOLDER = 'api-report';
/** Where reports are made before they are compared. */
const TEMPORARY = `dist-new-api-${process.pid}`;
const isCheck = process.argv.includes('--check');

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const entries = Object.entries(exports).flatMap(([name, { default: shape }]) =>
  shape ? [{ report: `${name === '.' ? 'index' : name.slice(2)}.api.md`, types: shape.types }] : [],
);
const configs = entries.map(configOf);
let isGood = true;
try {
  mkdirSync(FOLDER, { recursive: true });
  const others = configs.slice(1).map(({ mainEntryPointFilePath }) => mainEntryPointFilePath);
  const compilerState = CompilerState.create(configs[0], { additionalEntryPoints: others });
  for (const config of configs) extract(config, compilerState);
  const reports = entries.map(({ report }) => report);
  for (const file of readdirSync(FOLDER).filter((file) => !reports.includes(file))) {
    if (isCheck) tell(`${FOLDER}/${file} is the report of no entry point.`);
    else rmSync(join(FOLDER, file));
  }
} finally {
  rmSync(TEMPORARY, { recursive: true, force: true });
}
if (!isGood) console.error('If the change is meant, run `npm run build && npm run api` and commit the reports.');
process.exitCode = isGood ? 0 : 1;

function extract(config, compilerState) {
  const { apiReportChanged } = Extractor.invoke(config, {
    localBuild: !isCheck,
    compilerState,
    messageCallback(message) {
      // What api-extractor says of its own work is left out.
      if (message.category !== 'console' && message.logLevel === 'error')
        tell(`${message.sourceFilePath ?? ''}:${message.sourceFileLine ?? ''}: ${message.messageId}: ${message.text}`);
      message.handled = true;
    },
  });
  if (!isCheck || !apiReportChanged) return;
  const { reportFilePath, reportTempFilePath } = config;
  const was = existsSync(reportFilePath) ? readFileSync(reportFilePath, 'utf8').split(/\r?\n/) : [];
  const is = readFileSync(reportTempFilePath, 'utf8').split(/\r?\n/);
  tell(`${relative('.', reportFilePath)} does not tell the public types as they are:`);
  for (const line of was.filter((line) => !is.includes(line))) console.error(`- ${line}`);
  for (const line of is.filter((line) => !was.includes(line))) console.error(`+ ${line}`);
}

function tell(text) {
  isGood = false;
  console.error(text);
}

function configOf({ report, types }) {
  const compilerOptions = {
    module: 'nodenext',
    moduleResolution: 'nodenext',
    target: 'es2022',
    lib: ['es2023'],
    types: ['node'],
    strict: true,
    skipLibCheck: true,
  };
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: resolve('package.json'),
    configObject: {
      projectFolder: resolve('.'),
      mainEntryPointFilePath: resolve(types),
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions, files: entries.map((entry) => entry.types) } },
      apiReport: {
        enabled: true,
        reportFolder: resolve(FOLDER),
        reportTempFolder: resolve(TEMPORARY),
        reportFileName: report,
        // A change of a type that an exported one is made of is a change for users as well.
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: 'error' } },
        extractorMessageReporting: { default: { logLevel: 'none' }, 'ae-unresolved-link': { logLevel: 'error' } },
        tsdocMessageReporting: { default: { logLevel: 'error' } },
      },
    },
  });
}
