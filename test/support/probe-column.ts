/** A program: prints what everything that lists the columns of the log makes of the text column of that name. */

import { z } from 'zod';
import { createAdminApp } from '../../src/control/admin/admin-app.ts';
import { exportCalls } from '../../src/control/log/export-query.ts';
import { parseLogFilter } from '../../src/control/log/log-filter.ts';
import { formatLogRecord } from '../../src/control/log/log-record.ts';
import { makeRow } from '../../src/control/shipper/make-row.ts';
import { minimalCall } from '../../src/control/shipper/minimal-row.ts';
import { COPY_COLUMNS, encodeCopyText } from '../../src/control/store/copy-text.ts';
import { LOG_COLUMN_NAMES } from '../../src/control/store/log-columns.ts';
import { toBillableCall } from '../../src/pricing/to-billable-call.ts';
import { bareAdminDeps } from './admin-deps.ts';
import { callBegin, callEnd, NOON_MS, priceByToken } from './call-fixtures.ts';

const Columns = z.object({ properties: z.record(z.string(), z.unknown()) });
const Document = z.object({
  components: z.object({ schemas: z.object({ LogRecord: Columns, LogDetail: Columns }) }),
});
/** The dashboard has a type check of its own. */
const DASHBOARD_COLUMNS = '../../dashboard/src/pages/logs/column-list.ts';

const [, , name = ''] = process.argv;
const begin = callBegin(1);
const end = callEnd(1);
const row = { ...makeRow(begin, end, priceByToken(toBillableCall(begin, end)), NOON_MS), [name]: 'rain' };
const place = COPY_COLUMNS.split(', ').indexOf(name);
const nothing = {
  copyText: '',
  billedOnceAs: null,
  budgeted: null,
  bodies: [],
  requestHeaders: [],
  responseHeaders: [],
};
const scope = { accountId: 1, filters: [], search: null, from: null, to: null, excludeRuns: false };
const answer = await createAdminApp(bareAdminDeps({ adminToken: 'token' })).request(
  'http://127.0.0.1/api/v1/openapi.json',
  {
    headers: { authorization: 'Bearer token', host: '127.0.0.1' },
  },
);
const { schemas } = Document.parse(await answer.json()).components;
const { listColumns, readColumnFacts } = await import(DASHBOARD_COLUMNS);

process.stdout.write(
  JSON.stringify({
    copied: encodeCopyText([row]).split('\t')[place],
    minimal: minimalCall({ kind: 'call', row, ...nothing })?.copyText.split('\t')[place],
    filter: parseLogFilter(`${name}:contains:rain`),
    record: Object.entries(formatLogRecord(row, LOG_COLUMN_NAMES)).find(([column]) => column === name),
    exported: exportCalls(scope, new Map(), null, 'requested_at', null).columns.find((column) => column.name === name),
    listed: schemas.LogRecord.properties[name],
    detail: schemas.LogDetail.properties[name],
    dashboard: listColumns().includes(name) ? readColumnFacts(name) : null,
  }),
);
