/**
 * The look of the pages: the reader's system font, light or dark as the reader's system, nothing loaded from elsewhere.
 */
export const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --dim: #59636e; --page: #ffffff; --panel: #f6f8fa; --line: #d1d9e0;
  --link: #0969da; --good: #1a7f37; --bad: #cf222e; --warn: #9a6700; --merged: #8250df;
  --added: #dafbe1; --removed: #ffebe9; --hunk: #ddf4ff; --marked: #fff8c5; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --dim: #9198a1; --page: #0d1117; --panel: #151b23;
  --line: #3d444d; --link: #4493f8; --good: #3fb950; --bad: #f85149; --warn: #d29922; --merged: #ab7df8;
  --added: #12261e; --removed: #301b1e; --hunk: #121d2f; --marked: #2e2a1f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); line-height: 1.5;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 26px; font-weight: 600; margin: 4px 0 8px; overflow-wrap: anywhere; }
h1 .number { color: var(--dim); font-weight: 400; }
h2 { font-size: 18px; margin: 36px 0 12px; padding-bottom: 6px; border-bottom: 1px solid var(--line); }
h3, h4, h5, h6 { font-size: 15px; margin: 14px 0 6px; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
code, pre, .diff { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12.5px; }
code { background: var(--panel); padding: 1px 4px; border-radius: 4px; overflow-wrap: anywhere; }
pre { background: var(--panel); padding: 10px 12px; border-radius: 6px; overflow-x: auto; } pre code { padding: 0; }
.dim { color: var(--dim); } .small { font-size: 13px; }
.badge { display: inline-block; padding: 1px 10px; border-radius: 999px; border: 1px solid currentColor;
  font-size: 13px; font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); } .merged { color: var(--merged); }
.card { border: 1px solid var(--line); border-radius: 8px; margin: 12px 0; overflow: hidden; }
.card > header { background: var(--panel); padding: 8px 14px; border-bottom: 1px solid var(--line);
  display: flex; gap: 10px; align-items: baseline; flex-wrap: wrap; }
.card > .body { padding: 10px 14px; overflow-wrap: anywhere; }
.body > :first-child { margin-top: 0; } .body > :last-child { margin-bottom: 0; }
.pending { border-style: dashed; }
blockquote { margin: 8px 0; padding: 0 12px; border-left: 3px solid var(--line); color: var(--dim); }
table { border-collapse: collapse; } .body table td, .body table th { border: 1px solid var(--line); padding: 4px 10px; }
.diff { width: 100%; table-layout: fixed; border-collapse: collapse; }
.diff td { padding: 0 8px; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere; border: 0; }
.diff .n { width: 52px; text-align: right; color: var(--dim); user-select: none; }
.diff .added { background: var(--added); } .diff .removed { background: var(--removed); }
.diff .hunk { background: var(--hunk); color: var(--dim); } .diff .marked td.n { background: var(--marked); }
.diff td.said { white-space: normal; padding: 4px 12px 8px; font: 15px/1.5 system-ui, sans-serif; background: var(--page); }
details > summary { cursor: pointer; } ul, ol { padding-left: 24px; } li { margin: 3px 0; }
`
