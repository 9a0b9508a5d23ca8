/** Texts as they are written in older encodings, and found again. */
const russian = "Привет, мир! Это проверочный текст, и файл сохранён успешно.\n";
const japanese = "これはテストです。日本語の文章を正しく判定できるか、確認する。ﾃｽﾄ\n";
const chinese = "这是一个测试文件，用来检查编码是否正确。请不要删除。\n";
const polish = "Zażółć gęślą jaźń. Wszystkie pliki zostały zapisane pomyślnie.\n";

/** Pairs of an encoding and a line of text. */
export const texts: readonly (readonly [encoding: string, text: string])[] = [
  ["windows-1251", russian],
  ["koi8-r", russian.replaceAll("\n", "\r\n")],
  ["ibm866", russian],
  ["iso-8859-5", russian],
  ["windows-1250", polish],
  ["iso-8859-2", polish],
  ["windows-1253", "Αυτό είναι ένα δοκιμαστικό αρχείο, και η κωδικοποίηση είναι σωστή.\n"],
  ["windows-1254", "Şu dosya başarıyla kaydedildi, güneşli bir gündü.\n"],
  ["windows-1255", "זהו קובץ בדיקה. הקידוד צריך להיות נכון, וגם הטקסט.\n"],
  ["windows-1256", "هذا ملف اختبار. يجب أن يكون الترميز صحيحا.\n"],
  ["windows-874", "นี่คือไฟล์ทดสอบ การเข้ารหัสต้องถูกต้อง\n"],
  ["shift_jis", japanese],
  ["euc-jp", japanese],
  ["iso-2022-jp", japanese.replace("ﾃｽﾄ", "")],
  ["gbk", chinese],
  ["gb18030", `${chinese}😀 ḿ\n`],
  ["big5", "這是一個測試檔案，用來檢查編碼是否正確。請不要刪除。\n"],
  ["euc-kr", "이것은 테스트 파일입니다. 인코딩이 올바른지 확인합니다.\n"],
];

/** The name under which a text is found: GBK is read as its superset, and so is KOI8-R. */
export function foundAs(encoding: string): string {
  return encoding === "gbk" ? "gb18030" : encoding === "koi8-r" ? "koi8-u" : encoding;
}
