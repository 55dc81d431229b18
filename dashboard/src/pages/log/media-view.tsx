/** A picture, sound or file of a message. Pictures show only from the body itself and only as pixels; nothing is fetched. */
import { FileText, Image, Music, Video } from 'lucide-react';
import { formatBytes } from '../../../../src/vocabulary/format-amounts.ts';
import type { MediaKind, MediaPart } from '../../messages/conversation.ts';
import { LongText } from './long-text.tsx';

/** Raster types: a drawing that may carry scripts or addresses is not shown. */
const SHOWN_TYPES: readonly string[] = [
  'image/png',
  'image/jpeg',
  'image/jpg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
];

/** Above it the picture is only named: decoding it would hold the page. */
const MAX_SHOWN_CHARACTERS = 14_000_000;

const ICONS: Readonly<Record<MediaKind, typeof Image>> = { image: Image, audio: Music, video: Video, file: FileText };

export function MediaView({ part }: { readonly part: MediaPart }) {
  const { kind, mediaType, name, base64, reference, transcript } = part;
  const Icon = ICONS[kind];
  const bytes = base64 === null ? null : Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
  const isShown =
    base64 !== null &&
    mediaType !== null &&
    SHOWN_TYPES.includes(mediaType.toLowerCase()) &&
    base64.length <= MAX_SHOWN_CHARACTERS;
  return (
    <figure className="my-1">
      {isShown && (
        <img
          src={`data:${mediaType};base64,${base64}`}
          alt={name ?? `Image in the message, ${mediaType}`}
          className="max-h-64 max-w-full rounded border border-line bg-raised object-contain"
        />
      )}
      <figcaption className="mt-1 inline-flex max-w-full flex-wrap items-center gap-1.5 rounded bg-raised px-2 py-1 text-xs text-ink-soft">
        <Icon size={14} aria-hidden />
        <span>{mediaType ?? kind}</span>
        {name !== null && <span className="[overflow-wrap:anywhere]">{name}</span>}
        {bytes !== null && <span className="num">{formatBytes(bytes)}</span>}
        {reference !== null && (
          <span className="[overflow-wrap:anywhere]" title="Named only: nothing is loaded from elsewhere">
            {reference.slice(0, 500)}
          </span>
        )}
      </figcaption>
      {transcript !== null && <LongText text={transcript} className="mt-1 border-l-2 border-line-strong pl-2" />}
    </figure>
  );
}
