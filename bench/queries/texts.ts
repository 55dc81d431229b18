/** Made-up prompts and answers in several languages and scripts. Of few words, but hardly two alike. */
import type { SeededRandom } from '../../src/control/demo-log/seeded-random.ts';

interface Language {
  readonly name: string;
  /** Between words; nothing in Chinese and Japanese. */
  readonly space: string;
  readonly end: string;
  readonly words: readonly [string, ...string[]];
}

function language(name: string, words: string, space = ' ', end = '. '): Language {
  const [first = '', ...others] = words.split(' ');
  return { name, space, end, words: [first, ...others] };
}

const LANGUAGES: readonly [Language, ...Language[]] = [
  language(
    'en',
    'please the customer writes that order arrived late and asks for refund of shipping we should answer politely check warranty stove tent lamp valve invoice number before sending replacement parcel yesterday station harbour ledger quarterly report shows growth in northern region while costs remain stable compare both tables explain difference step by step function returns promise error timeout database index query slow page cache token budget model output summary short list bullet points',
  ),
  language(
    'de',
    'bitte die Kundin schreibt dass Bestellung verspätet angekommen ist und möchte Rückerstattung der Versandkosten prüfe Gewährleistung Rechnung Nummer Übersetzung Straße Größe Änderung Bahnhof Vertrag Kündigung Frist Lieferung gestern morgen Werkstatt Schlüssel Fahrplan Zusammenfassung Bericht Quartal Wachstum Kosten stabil erkläre Unterschied Schritt für Schritt',
  ),
  language(
    'fr',
    'le client écrit que la commande est arrivée en retard et demande un remboursement des frais vérifiez la garantie facture numéro avant envoi résumé bref réunion équipe déjà été château forêt leçon français où ça réponse polie différence étape par étape rapport trimestriel croissance',
  ),
  language(
    'es',
    'la clienta escribe que el pedido llegó tarde y pide reembolso del envío comprueba garantía factura número antes mañana reunión equipo español señal corazón niño resumen breve informe trimestral crecimiento costes estables explica diferencia paso a paso',
  ),
  language(
    'ru',
    'клиент пишет что заказ пришёл поздно и просит вернуть деньги за доставку проверьте гарантию счёт номер отчёт квартал рост расходы стабильны объясните разницу шаг за шагом перевод встреча команда ёлка письмо ответ',
  ),
  language(
    'zh',
    '请 客户 来信 说 订单 迟到 了 要求 退款 运费 我们 应该 礼貌 回答 检查 保修 发票 号码 昨天 车站 港口 季度 报告 显示 北方 地区 增长 成本 稳定 比较 两张 表格 解释 差别 一步一步 数据库 索引 查询 缓慢',
    '',
    '。',
  ),
  language(
    'ja',
    '注文 が 遅れて 届きました 返金 を お願い します 保証 を 確認 して ください 請求書 番号 昨日 駅 港 四半期 報告書 北部 成長 費用 は 安定 違い を 説明 データベース 検索 が 遅い テント ランプ',
    '',
    '。',
  ),
  language(
    'ar',
    'كتب العميل أن الطلب وصل متأخرا ويطلب استرداد تكاليف الشحن تحقق من الضمان رقم الفاتورة قبل الإرسال تقرير ربع سنوي نمو المنطقة الشمالية التكاليف مستقرة اشرح الفرق خطوة بخطوة',
  ),
  language(
    'hi',
    'ग्राहक लिखता है कि ऑर्डर देर से आया और वापसी चाहता है वारंटी जाँचें चालान संख्या कल रिपोर्ट तिमाही वृद्धि लागत स्थिर अंतर समझाएँ कदम दर कदम',
  ),
];

const EMOJI = ['🎉', '🚚', '👍🏽', '🔥', '👩‍💻', '✅', '🇩🇪', '🤷'] as const;

/** A text that contains this word is one in ten thousand. */
export const RARE_WORD = 'Quittenmarmelade';
const RARE_SHARE = 0.000_1;
const EMOJI_SHARE = 0.03;

export function writeText(random: SeededRandom, sentences: number): string {
  const { words, space, end } = random.next() < 0.6 ? LANGUAGES[0] : random.pick(LANGUAGES);
  let text = '';
  for (let sentence = 0; sentence < sentences; sentence += 1) {
    const parts = Array.from({ length: random.between(6, 18) }, () => random.pick(words));
    if (random.next() < RARE_SHARE) parts.push(RARE_WORD);
    if (random.next() < 0.1) parts.push(String(random.between(1_000, 99_999)));
    text += parts.join(space) + (random.next() < EMOJI_SHARE ? ` ${random.pick(EMOJI)} ` : end);
  }
  return text.trim();
}
