/**
 * Which of the encodings older than Unicode bytes are in, where the engine
 * carries no tables: each candidate is decoded by the platform's `TextDecoder`,
 * and the text that looks most like language wins.
 *
 * Words of one script, in sensible case, of frequent letters speak for a
 * candidate; symbols inside words and rare characters against it.
 */

/** Points that a few odd bytes of no language may make by chance. */
const A_LITTLE = 0.5;

/** The most likely encoding of a sample with something beyond ASCII; `windows-1252` where nothing speaks for another. */
export function guessLegacy(sample: Uint8Array): string {
  let best = "windows-1252";
  let most = A_LITTLE;
  for (const { label, score } of CANDIDATES) {
    const points = score(sample);
    if (points > most) [best, most] = [label, points];
  }
  return best;
}

interface Candidate {
  readonly label: string;
  /** What speaks for it; minus infinity where the bytes are not of the encoding or the platform lacks it. */
  readonly score: (sample: Uint8Array) => number;
}

const set = (characters: string): ReadonlySet<string> => new Set(characters);

/** Characters of which four in ten of any Chinese text are, in both scripts, and the stops. */
const HANZI = set(
  "的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜离虽坏待集编码检查测试正确源注释" +
    "這來個國說們為時會過學對裡後麼還發當無開見經頭動兩長樣現將與進實點種聲話兒問機給幾業間電門東聽關並內產萬體別處總場師書員華報馬張難數應親務車記邊戰許覺題統請愛讓認論義術結連遠資隊帶條變聯權領傳紅決達辦運強區轉眾輕語滿寫識極黃臉錢黨設雙歷廣議單據導專讀飛觀爭組視濟離雖編碼檢測試確釋",
);
const STOPS = set("　、。，．；：？！「」『』（）《》“”‘’—…・～％");
/** Ideographs that a Japanese text is likely to hold. */
const KANJI = set(
  "日一人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨文字検査使用確認正変更処理化符号関数定義実行入力設値戻表示場合同部分全方新作用問題意味機能性保存変換終注意対象追加削除取得情報",
);

const asian = (label: string, weigh: (c: string, code: number) => number): Candidate => ({
  label,
  score(sample) {
    const text = decodeSample(sample, label);
    if (text === null) return Number.NEGATIVE_INFINITY;
    let points = 0;
    for (const c of text) {
      const code = c.codePointAt(0) as number;
      if (code < 0x80) continue;
      points += STOPS.has(c) ? 1 : weigh(c, code);
    }
    // A character here is two letters of an alphabet.
    return 1.6 * points;
  },
});

/** The text, or null where the bytes are not of the encoding or the platform lacks it. */
function decodeSample(sample: Uint8Array, label: string): string | null {
  try {
    // As of a stream: a character that the cut went through is no fault.
    return new TextDecoder(label, { fatal: true }).decode(sample, { stream: true });
  } catch {
    return null;
  }
}

const isIdeograph = (code: number): boolean => code >= 0x4e00 && code <= 0x9fff;

const chinese = (c: string, code: number): number =>
  HANZI.has(c) ? 2.5 : isIdeograph(code) ? 0.1 : code >= 0x3041 && code <= 0x30fe ? -0.5 : -1;

const japanese = (c: string, code: number): number => {
  if (code >= 0x3041 && code <= 0x3096) return 1.8;
  if (code >= 0x30a1 && code <= 0x30fe) return 1.3;
  if (isIdeograph(code)) return KANJI.has(c) ? 2 : 0.1;
  return code >= 0xff61 && code <= 0xff9f ? -1 : -0.5;
};

const korean = (_: string, code: number): number =>
  code >= 0xac00 && code <= 0xd7a3 ? 1.4 : isIdeograph(code) ? -1 : -0.5;

/** What the 256 bytes of an encoding are. */
interface Plane {
  readonly characters: readonly string[];
  /** Sums of the constants below. */
  readonly classes: Uint8Array;
}

const LETTER = 1;
const LOWER = 2;
const UPPER = 4;
/** Neither letter nor quote, and no control: strange inside a word. */
const SYMBOL = 8;
const INVALID = 16;

const QUOTES = set("«»„“”’‘–—…°§€·•№©®£¿¡\u00a0");

const planes = new Map<string, Plane>();

function planeOf(label: string): Plane {
  let plane = planes.get(label);
  if (plane === undefined) {
    const characters = Array.from(
      { length: 256 },
      (_, byte) => decodeSample(Uint8Array.of(byte), label) ?? "",
    );
    plane = { characters, classes: Uint8Array.from(characters, classOf) };
    planes.set(label, plane);
  }
  return plane;
}

function classOf(c: string): number {
  if (c === "") return INVALID;
  if (/\p{L}/u.test(c)) return LETTER + (/\p{Ll}/u.test(c) ? LOWER : /\p{Lu}/u.test(c) ? UPPER : 0);
  return c > "\x9f" && !QUOTES.has(c) ? SYMBOL : 0;
}

/**
 * A language by the letters it has beyond ASCII, the frequent ones first: of an
 * alphabet of its own, whose words hold no ASCII, or of one that extends ASCII.
 */
const language = (label: string, letters: string, own: boolean, most = 1): Candidate => {
  // Of an alphabet of its own, a wrong reading has all the letters too, in other numbers.
  const known = new Map(
    [...letters].map((letter, rank) => [letter, own ? 1.4 - (0.8 * rank) / letters.length : most]),
  );
  let weights: Float64Array | undefined;
  return {
    label,
    score(sample) {
      const { characters, classes } = planeOf(label);
      weights ??= Float64Array.from(characters, (c) => weight(c, known));
      let points = 0;
      let before = 0x20;
      for (const byte of sample) {
        if (byte >= 0x80) {
          if (classes[byte] === INVALID) return Number.NEGATIVE_INFINITY;
          points += weights[byte] as number;
        }
        if (byte >= 0x80 || before >= 0x80) {
          const crossing = byte >= 0x80 !== before >= 0x80;
          points += pair(classes[before] as number, classes[byte] as number, crossing && own);
        }
        before = byte;
      }
      return points;
    },
  };
};

function weight(c: string, known: ReadonlyMap<string, number>): number {
  const points = known.get(c);
  if (points !== undefined) return points;
  if (/\p{L}/u.test(c)) return known.has(c.toLowerCase()) ? 0.6 : -0.8;
  if (QUOTES.has(c)) return 0.2;
  return c < "\xa0" ? -4 : -1.5;
}

/** What the classes of two characters in a row say, one of them not ASCII. */
function pair(first: number, second: number, foreign: boolean): number {
  if (first & second & LETTER) {
    if (foreign) return -1.5;
    return first & LOWER && second & UPPER ? -1.5 : 0.3;
  }
  // A symbol inside or against a word.
  return (first & LETTER && second & SYMBOL) || (first & SYMBOL && second & LETTER) ? -0.8 : 0;
}

const CYRILLIC = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґ";
const SERBIAN = "аоеинрсјтвукдмлпгзбшчжцхњћљђфџќѓѕ";
const GREEK = "αοιετσνηυρπκμλςδγάίόχήέύφωθβώξζψϊϋΐΰ";
const HEBREW = "יוהלאמתרבשנדעחקפםטצגכסןזךףץ";
const ARABIC = "الينمترودبسعفهكحقجةىصشطأخضثإءذغظؤئآ";
const THAI = "านรอกเงมยลวดทสตะปบคหแจพชขใไโผซถธศณฉภษฐฟญฮฝ่้็ัิีืุู์ำ";

/** Languages whose words mix ASCII and other letters, by the encodings they are written in. */
const LATIN: readonly (readonly [labels: readonly string[], letters: readonly string[]])[] = [
  [
    ["windows-1252"],
    ["éàèêçùâîôûëïœæ", "äüöß", "óáíéñúü", "ãçáéíóêõâúàô", "àèùòéì", "åäöéæø", "íáðóþúæéöý", "éëïèöü"],
  ],
  [
    ["windows-1250", "iso-8859-2"],
    ["łęóąśżćńź", "íáěéřčžýšůúňťóďľĺŕôä", "áéöóőüíúű", "ăîşâţ", "čšžćđ"],
  ],
  [["windows-1254"], ["ışüöçğİâî"]],
  [["windows-1257"], ["ėšįųžąūčę", "āīēūņšļģķžč", "äõüöšž"]],
];

const CANDIDATES: readonly Candidate[] = [
  language("windows-1252", "éèêëàâäáãåçùûüúôöóõòîïíìñßøæœ", false, 0.7),
  asian("shift_jis", japanese),
  asian("euc-jp", japanese),
  asian("gb18030", chinese),
  asian("big5", chinese),
  asian("euc-kr", korean),
  ...["windows-1251", "koi8-u", "ibm866", "iso-8859-5"].map((label) => language(label, CYRILLIC, true)),
  ...["windows-1251", "iso-8859-5"].map((label) => language(label, SERBIAN, true)),
  ...LATIN.flatMap(([labels, languages]) =>
    labels.flatMap((label) => languages.map((letters) => language(label, letters, false))),
  ),
  ...["windows-1253", "iso-8859-7"].map((label) => language(label, GREEK, true)),
  language("windows-1255", HEBREW, true),
  ...["windows-1256", "iso-8859-6"].map((label) => language(label, ARABIC, true)),
  language("windows-874", THAI, true),
];
