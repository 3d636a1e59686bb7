/** Tokens of the label selector language. @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#api */
export type TokenType = 'end' | 'identifier' | 'in' | 'notin' | '=' | '==' | '!=' | '!' | '>' | '<' | '(' | ')' | ','

export interface Token {
  type: TokenType
  /** As error messages show it. */
  text: string
}

const SYMBOLS: ReadonlySet<string> = new Set(['=', '==', '!=', '!', '>', '<', '(', ')', ','])
const SYMBOL_CHARACTERS = '=!(),><'
const WHITE_SPACE = ' \t\r\n'

/** All tokens of `text`; the last one is `end`. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const character = text[at]!
    if (WHITE_SPACE.includes(character)) {
      at++
    } else if (SYMBOL_CHARACTERS.includes(character)) {
      // every single symbol character is a token, so only two-character symbols need a look ahead
      const pair = text.slice(at, at + 2)
      const symbol = pair.length === 2 && SYMBOLS.has(pair) ? pair : character
      tokens.push({ type: symbol as TokenType, text: symbol })
      at += symbol.length
    } else {
      const start = at
      while (at < text.length && !SYMBOL_CHARACTERS.includes(text[at]!) && !WHITE_SPACE.includes(text[at]!)) at++
      const word = text.slice(start, at)
      tokens.push({ type: word === 'in' || word === 'notin' ? word : 'identifier', text: word })
    }
  }
  tokens.push({ type: 'end', text: '' })
  return tokens
}
