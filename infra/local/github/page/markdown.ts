/** Markdown on the pages: no HTML but the tags that Muster posts, links to http and https only, no images. */
import MarkdownIt from 'markdown-it'

/** Keeps line breaks, as GitHub does in comments; class names for highlighting would serve nothing. */
const markdown = new MarkdownIt({ html: true, breaks: true, langPrefix: '' }).disable('image')

export const { escapeHtml } = markdown.utils

/** A tag of Muster's summaries, always without attributes; comments hold Muster's markers and stay hidden. */
const SHOWN_TAG = /^<\/?(?:details|summary|sub|br) *\/?>$/
const TAG_OR_COMMENT = /(<\/?[a-z]+ *\/?>|<!--[\s\S]*?-->)/

markdown.validateLink = (url) => /^https?:\/\//i.test(url)
markdown.renderer.rules.html_block = (tokens, index) => harmless(tokens[index]?.content ?? '')
markdown.renderer.rules.html_inline = (tokens, index) => harmless(tokens[index]?.content ?? '')
markdown.renderer.rules.link_open = (tokens, index, options, _environment, renderer) => {
  tokens[index]?.attrSet('rel', 'noopener noreferrer')
  return renderer.renderToken(tokens, index, options)
}
// The page itself has the headings of levels 1 and 2.
markdown.core.ruler.push('page_headings', ({ tokens }) => {
  for (const token of tokens) if (/^h\d$/.test(token.tag)) token.tag = `h${Math.min(6, Number(token.tag[1]) + 2)}`
})

export function renderMarkdown(text: string): string {
  return markdown.render(text)
}

function harmless(html: string): string {
  return html
    .split(TAG_OR_COMMENT)
    .map((piece) => (SHOWN_TAG.test(piece) ? piece : /^<!--[\s\S]*-->$/.test(piece) ? '' : escapeHtml(piece)))
    .join('')
}
