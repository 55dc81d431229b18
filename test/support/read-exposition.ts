/**
 * A strict reader of the text format of Prometheus 0.0.4, which throws at whatever a careful scraper would refuse or warn
 * of. https://prometheus.io/docs/instrumenting/exposition_formats/
 */

export interface MetricFamily {
  readonly type: string;
  readonly help: string;
  /** The label text as written, without the braces. */
  readonly samples: { readonly name: string; readonly labels: string; readonly value: number }[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (\\S+)$`);
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/i;

export function readExposition(text: string): ReadonlyMap<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, MetricFamily>();
  const series = new Set<string>();
  let help: { readonly name: string; readonly text: string } | null = null;
  let current = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, helpName, helpText] = new RegExp(`^# HELP (${NAME}) (.+)$`).exec(line) ?? [];
    const [, typeName, type] = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary)$`).exec(line) ?? [];
    if (helpName !== undefined && helpText !== undefined) {
      help = { name: helpName, text: helpText };
    } else if (typeName !== undefined && type !== undefined) {
      if (help?.name !== typeName) throw new Error(`no help stands before the type: ${line}`);
      if (families.has(typeName)) throw new Error(`a family that comes twice: ${line}`);
      const isTotal = typeName.endsWith('_total');
      if (isTotal !== (type === 'counter')) throw new Error(`misnamed: ${line}`);
      families.set(typeName, { type, help: help.text, samples: [] });
      current = typeName;
    } else {
      readSample(line, current, families.get(current), series);
    }
  }
  return families;
}

function readSample(line: string, current: string, family: MetricFamily | undefined, series: Set<string>): void {
  const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
  if (name === undefined || value === undefined || !NUMBER.test(value)) throw new Error(`not a sample: ${line}`);
  const suffixes =
    family?.type === 'histogram'
      ? ['_bucket', '_sum', '_count']
      : family?.type === 'summary'
        ? ['', '_sum', '_count']
        : [''];
  if (family === undefined || !suffixes.some((suffix) => name === `${current}${suffix}`))
    throw new Error(`a sample of no family: ${line}`);
  const key = `${name}{${labels}}`;
  if (series.has(key)) throw new Error(`a series that comes twice: ${line}`);
  series.add(key);
  const number = Number(value.replace('Inf', 'Infinity'));
  if (family.type === 'counter' && !(number >= 0)) throw new Error(`a counter below zero: ${line}`);
  family.samples.push({ name, labels, value: number });
}
