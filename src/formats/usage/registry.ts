/** All usage formats by name. */

import type { UsageFormatName } from '../../providers/format-names.ts';
import { speech, transcriptions } from './audio.ts';
import { batches } from './batches.ts';
import { chatCompletions } from './chat-completions.ts';
import { converse } from './converse.ts';
import { embeddings } from './embeddings.ts';
import { geminiBatch } from './gemini-batch.ts';
import { geminiEmbeddings } from './gemini-embeddings.ts';
import { generateContent } from './generate-content.ts';
import { imagen } from './imagen.ts';
import { images } from './images.ts';
import { interactions } from './interactions.ts';
import { invoke } from './invoke.ts';
import { messageBatch } from './message-batch.ts';
import { messageBatchState } from './message-batch-state.ts';
import { messages } from './messages.ts';
import { opaque } from './opaque.ts';
import { responses } from './responses.ts';
import { webFetch, webSearch } from './tool-request.ts';
import type { UsageFormat } from './usage-format.ts';
import { videoJob } from './video-job.ts';

export const USAGE_FORMATS: Readonly<Record<UsageFormatName, UsageFormat>> = Object.freeze({
  'chat-completions': chatCompletions,
  responses,
  embeddings,
  batches,
  images,
  transcriptions,
  speech,
  messages,
  'message-batch': messageBatch,
  'message-batch-state': messageBatchState,
  'generate-content': generateContent,
  interactions,
  'gemini-batch': geminiBatch,
  'gemini-embeddings': geminiEmbeddings,
  imagen,
  'video-job': videoJob,
  'web-search': webSearch,
  'web-fetch': webFetch,
  converse,
  invoke,
  opaque,
});
