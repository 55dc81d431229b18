import { expect, test } from 'vitest';
import { LLM_REQUEST_COLUMNS } from '../store/llm-request-row.ts';
import { LOG_COLUMN_NAMES } from './log-record.ts';

test('the columns of filters and JSON are those of the table', () => {
  expect([...LOG_COLUMN_NAMES]).toEqual(Object.keys(LLM_REQUEST_COLUMNS));
});
