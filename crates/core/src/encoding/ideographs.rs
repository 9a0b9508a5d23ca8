//! Character sets that distinguish Chinese and Japanese texts.

/// A set of ideographs, one bit for each from [`FIRST_IDEOGRAPH`] on.
pub(super) struct IdeographSet([u64; IDEOGRAPH_COUNT / 64]);

const FIRST_IDEOGRAPH: u32 = 0x4e00;
/// The size of the set in bits; a multiple of 64 that covers the block.
const IDEOGRAPH_COUNT: usize = 0x5200;

/// Returns true for a code point of the block CJK Unified Ideographs.
pub(super) fn is_ideograph(c: u32) -> bool {
    c.wrapping_sub(FIRST_IDEOGRAPH) < IDEOGRAPH_COUNT as u32
}

impl IdeographSet {
    /// Returns the set of the ideographs in a text. Evaluated at compile time; all characters of
    /// the block have three bytes in UTF-8.
    const fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut words = [0; IDEOGRAPH_COUNT / 64];
        let mut at = 0;
        while at < bytes.len() {
            let low = (bytes[at + 1] as u32 & 0x3f) << 6 | bytes[at + 2] as u32 & 0x3f;
            let place = ((bytes[at] as u32 & 0xf) << 12 | low) - FIRST_IDEOGRAPH;
            words[place as usize / 64] |= 1 << (place % 64);
            at += 3;
        }
        Self(words)
    }

    pub(super) fn has(&self, c: u32) -> bool {
        let place = c.wrapping_sub(FIRST_IDEOGRAPH);
        self.0.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }
}

/// Punctuation that is used between ideographs.
pub(super) const CJK_PUNCTUATION: &str = "　、。，．；：？！「」『』（）《》“”‘’—…・～％";

/// The most frequent ideographs of Chinese, simplified and traditional: four in ten characters of
/// any Chinese text.
pub(super) static FREQUENT_HANZI: IdeographSet = IdeographSet::of(
    "\
    的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对\
    可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公\
    同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正\
    名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并\
    内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表\
    原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风\
    战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫\
    连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士\
    转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像\
    找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜\
    离虽坏待集编码检查测试确源注释這來個國說們為時會過學對裡後麼還發當無開見經頭動兩長樣現將與進\
    實點種聲話兒問機給幾業間電門東聽關並內產萬體別處總場師書員華報馬張難數應親務車記邊戰許覺題統\
    請愛讓認論義術結連遠資隊帶條變聯權領傳紅決達辦運強區轉眾輕語滿寫識極黃臉錢黨設雙歷廣議單據導\
    專讀飛觀爭組視濟離雖編碼檢測試確釋",
);

/// The most frequent ideographs of Japanese.
#[cfg(not(feature = "legacy"))]
pub(super) static FREQUENT_KANJI: IdeographSet = IdeographSet::of(
    "\
    日一人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百\
    書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨文字検査使用確認正変更処理化\
    符号関数定義実力設値戻表示場合同部分全方新作問題意味機能性保存換終注対象追加削除取得情報",
);
