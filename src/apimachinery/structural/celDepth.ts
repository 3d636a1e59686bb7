/** How large the text of an expression may be and how deep its tree, as upstream's parser has it. */
import type { ASTNode } from '@marcbachmann/cel-js'
import { childrenOf } from './celMacros.ts'

/** In code points. */
export const MAX_EXPRESSION_CHARACTERS = 100_000
/** As upstream has them; the outermost is none of them. */
export const LEVELS = 250
const MAX_DEPTH = LEVELS + 1
/** Upstream makes a flat tree of `&&` and `||`, however many there are; here each is inside of the next. Signs are alike. */
export const MAX_IN_A_ROW = 1000

/** Why the text is too large; in upstream's words. */
export function tooLong(source: string): string | undefined {
  if (source.length <= MAX_EXPRESSION_CHARACTERS) return undefined
  const size = [...source.matchAll(/[\s\S]/gu)].length
  if (size <= MAX_EXPRESSION_CHARACTERS) return undefined
  return nowhere(`expression code point size exceeds limit: size: ${size}, limit ${MAX_EXPRESSION_CHARACTERS}`)
}

/** Why the tree is too deep; in upstream's words where it refuses that, too. */
export function tooDeep(root: ASTNode): string | undefined {
  // no recursion: what is too deep for it is looked for
  const left: { node: ASTNode; depth: number; row: number }[] = [{ node: root, depth: 1, row: 1 }]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const { node, depth, row } = at
    if (depth > MAX_DEPTH) return nowhere('max recursion depth exceeded')
    if (row > MAX_IN_A_ROW) return nowhere(`more than ${MAX_IN_A_ROW} operators of one sort in a row`)
    for (const child of childrenOf(node)) {
      const isNext = isSign(child) ? isSign(node) : isLogic(node) && child.op === node.op
      left.push({ node: child, depth: isNext || isSign(child) ? depth : depth + 1, row: isNext ? row + 1 : 1 })
    }
  }
  return undefined
}

/** The parser's own message about brackets and members. */
export function wordedDepth(summary: string): string | undefined {
  return /^Exceeded maxDepth \((\d+)\)$/.test(summary)
    ? nowhere(summary.replace(/^Exceeded maxDepth \((\d+)\)$/, 'expression recursion limit exceeded: $1'))
    : undefined
}

function nowhere(why: string): string {
  return `ERROR: <input>:-1:0: ${why}`
}

function isLogic({ op }: ASTNode): boolean {
  return op === '&&' || op === '||'
}

/** Those that follow one another are one, or none. */
function isSign({ op }: ASTNode): boolean {
  return op === '!_' || op === '-_'
}
