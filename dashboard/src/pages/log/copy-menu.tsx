/** Copies a call: as code that makes it again, its record, its ids, its address. */
import { Menu } from '@base-ui/react/menu';
import { useQueryClient } from '@tanstack/react-query';
import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { type LogDetail, logBodyQuery } from '../../api/logs.ts';
import { useSession } from '../../app/session-context.tsx';
import { buttonClass } from '../../components/buttons.tsx';
import { decodeBody } from '../../messages/body-text.ts';
import { COPY_LANGUAGES, type CopyLanguage, copyAs } from '../../messages/copy-as.ts';
import { formatJson, isRecord } from '../../messages/json-reading.ts';

const LANGUAGE_NAMES: Readonly<Record<CopyLanguage, string>> = {
  curl: 'curl',
  python: 'Python',
  typescript: 'TypeScript',
};

const ITEM = 'rounded px-2 py-1.5 outline-none data-[highlighted]:bg-raised cursor-default';

function listMetadata(log: LogDetail): readonly (readonly [string, string])[] {
  return Object.entries(isRecord(log.raw_metadata) ? log.raw_metadata : {}).map(([name, value]) => [
    name,
    String(value),
  ]);
}

export function CopyMenu({ log }: { readonly log: LogDetail }) {
  const queries = useQueryClient();
  const session = useSession();
  const [said, setSaid] = useState<string | null>(null);
  const copy = async (read: () => string | Promise<string>) => {
    try {
      await navigator.clipboard.writeText(await read());
      setSaid('Copied');
    } catch {
      setSaid('Could not be copied');
    }
  };
  const asCode = async (language: CopyLanguage): Promise<string> => {
    const isKept = log.bodies?.request != null && session.may_read_bodies;
    const body = isKept ? await queries.fetchQuery(logBodyQuery(log.id, 'request')) : null;
    const decoded = body === null ? null : decodeBody(body.bytes);
    return copyAs(language, {
      baseUrl: session.base_url,
      method: log.method ?? 'POST',
      path: log.path ?? '/',
      provider: log.provider ?? '',
      providerAlias: log.provider_alias,
      headers: log.headers?.request ?? [],
      metadata: listMetadata(log),
      body: decoded?.text ?? (log.request_bytes === 0 || log.method === 'GET' ? null : ''),
      isBodyWhole: decoded?.isExact === true && body?.cutBytes === 0 && body.decodedLimit === null,
    });
  };
  const items: readonly (readonly [string, () => string | Promise<string>])[] = [
    ...COPY_LANGUAGES.map((language) => [`As ${LANGUAGE_NAMES[language]}`, () => asCode(language)] as const),
    ['Record as JSON', () => formatJson(log)],
    ['Request id', () => log.id],
    ['Link', () => `${location.origin}/log/${log.id}`],
  ];
  return (
    <Menu.Root onOpenChange={() => setSaid(null)}>
      <Menu.Trigger className={buttonClass()}>
        {said === 'Copied' ? <Check size={15} aria-hidden /> : <Copy size={15} aria-hidden />}
        {said ?? 'Copy'}
      </Menu.Trigger>
      <span role="status" className="sr-only">
        {said}
      </span>
      <Menu.Portal>
        <Menu.Positioner sideOffset={6} align="end" className="z-50">
          <Menu.Popup className="min-w-44 rounded-lg border border-line bg-panel p-1 shadow-lg outline-none">
            {items.map(([label, read]) => (
              <Menu.Item key={label} className={ITEM} onClick={() => void copy(read)}>
                {label}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
