/**
 * `npm run test:chart`: the chart in deploy/helm, linted and rendered with every choice, and what comes of it looked
 * through; with kubeconform on the path also against the schemas of Kubernetes (KUBECONFORM_SCHEMAS: where they are;
 * test/chart/make-schemas.ts makes them without asking anybody).
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { CASES, type ChartCase, REFUSALS } from './chart-cases.ts';
import { judgeRendered } from './judge-rendered.ts';

const CHART = join(import.meta.dirname, '../../deploy/helm/tollgate');
const KUBERNETES = '1.34.0';
const LIMIT_MS = 60_000;
/** Kinds that other projects bring: Kubernetes has no schemas of them. */
const OF_OTHERS = 'HTTPRoute,PrometheusRule,ServiceMonitor';

function call(command: string, args: readonly string[], input = '') {
  return spawnSync(command, args, {
    cwd: CHART,
    input,
    encoding: 'utf8',
    timeout: LIMIT_MS,
    maxBuffer: 64 * 1024 ** 2,
  });
}

const has = (command: string, argument: string): boolean => call(command, [argument]).error === undefined;

function render({ args }: ChartCase) {
  return call('helm', ['template', 'test', '.', '--namespace', 'llm', '--kube-version', KUBERNETES, ...args]);
}

function conform(yaml: string): string[] {
  const schemas = process.env['KUBECONFORM_SCHEMAS'];
  const where = schemas === undefined ? [] : ['-schema-location', schemas];
  const { status, stdout, stderr } = call(
    'kubeconform',
    ['-strict', '-kubernetes-version', KUBERNETES, '-skip', OF_OTHERS, ...where],
    yaml,
  );
  return status === 0 ? [] : `${stdout}${stderr}`.trim().split('\n');
}

function judge(one: ChartCase, hasKubeconform: boolean): string[] {
  const lint = call('helm', ['lint', '.', '--strict', '--quiet', '--kube-version', KUBERNETES, ...one.args]);
  if (lint.status !== 0) return [`helm lint: ${lint.stdout}${lint.stderr}`];
  const { status, stdout, stderr } = render(one);
  if (status !== 0) return [`helm template: ${stderr}`];
  const documents = parseAllDocuments(stdout);
  const broken = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]).map(({ message }) => message);
  if (broken.length > 0) return broken;
  const objects = documents.map((document) => document.toJS()).filter((object) => object !== null);
  try {
    return [...judgeRendered(objects), ...(hasKubeconform ? conform(stdout) : [])];
  } catch (error) {
    return [String(error)];
  }
}

function main(): number {
  if (!has('helm', 'version')) {
    console.log('skipped: there is no `helm` on the path (https://helm.sh); nothing of the chart was rendered');
    return 0;
  }
  const hasKubeconform = has('kubeconform', '-v');
  if (!hasKubeconform) console.log('without `kubeconform` on the path: not compared with the schemas of Kubernetes');
  let wrong = 0;
  const say = (name: string, lines: readonly string[]): void => {
    if (lines.length > 0) wrong += 1;
    console.log(`${lines.length === 0 ? 'ok   ' : 'WRONG'} ${name}`);
    for (const line of lines) console.log(`      ${line}`);
  };
  for (const one of CASES) say(one.name, judge(one, hasKubeconform));
  for (const one of REFUSALS) {
    const { status, stderr } = render(one);
    say(`refused: ${one.name}`, status !== 0 && stderr.includes(one.says) ? [] : [`status ${status}: ${stderr}`]);
  }
  console.log(`${CASES.length} renderings and ${REFUSALS.length} refusals, ${wrong} wrong`);
  return wrong === 0 ? 0 : 1;
}

process.exitCode = main();
