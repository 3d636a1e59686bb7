/**
 * Reads the model classes of `@kubernetes/client-node`. The attribute table of each `.js` gives names, types and formats. The `.d.ts`
 * beside it separates optional from required fields and carries the documentation.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ModelAttribute {
  /** The JSON field. */
  name: string
  /** `string`, `number`, `boolean`, `Date`, `any`, `IntOrString`, a model name, `Array<…>` or `{ [key: string]: …; }`. */
  type: string
  /** OpenAPI format of the innermost value; `''` when it has none. */
  format: string
  required: boolean
  description: string
}

export interface Model {
  name: string
  description: string
  attributes: ModelAttribute[]
}

interface RawAttribute {
  name: string
  baseName: string
  type: string
  format: string
}

/** Lists model classes below `folder` and reads each at most once. */
export class Models {
  readonly #folder: string
  readonly #names: ReadonlySet<string>
  readonly #read = new Map<string, Model>()

  constructor(folder: string) {
    this.#folder = folder
    this.#names = new Set(
      readdirSync(folder)
        .filter(file => file.endsWith('.js'))
        .map(file => file.slice(0, -'.js'.length)),
    )
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** @throws Error when there is no such model or its table cannot be understood */
  get(name: string): Model {
    const known = this.#read.get(name)
    if (known !== undefined) return known
    if (!this.#names.has(name)) throw new Error(`@kubernetes/client-node has no model ${name}`)
    const code = readFileSync(join(this.#folder, `${name}.js`), 'utf8')
    const types = readFileSync(join(this.#folder, `${name}.d.ts`), 'utf8')
    const model: Model = { name, description: classComment(types), attributes: attributesOf(name, code, types) }
    this.#read.set(name, model)
    return model
  }
}

function attributesOf(name: string, code: string, types: string): ModelAttribute[] {
  const table = /\.attributeTypeMap = (\[[\s\S]*?\n\]|\[\]);/.exec(code)
  if (table === null) throw new Error(`model ${name} has no attribute table`)
  const declared = declarationsOf(types)
  return (JSON.parse(table[1]!) as RawAttribute[]).map(raw => {
    const declaration = declared.get(raw.name)
    if (declaration === undefined) throw new Error(`model ${name} does not declare ${raw.name}`)
    return { name: raw.baseName, type: raw.type, format: raw.format, ...declaration }
  })
}

function declarationsOf(types: string): Map<string, { required: boolean; description: string }> {
  const found = new Map<string, { required: boolean; description: string }>()
  const member = /(?: {4}\/\*\*\n((?: {4}\*.*\n)*?) {4}\*\/\n)? {4}'([^']+)'(\??):/g
  for (const [, comment, name, optional] of types.matchAll(member)) {
    found.set(name!, { required: optional === '', description: plainText(comment ?? '') })
  }
  return found
}

function classComment(types: string): string {
  const comment = /\/\*\*\n((?:\*.*\n)+)\*\/\nexport declare class/.exec(types)
  return plainText(comment?.[1] ?? '')
}

/** Takes the comment's stars and the generator's escapes away. */
function plainText(comment: string): string {
  return comment
    .split('\n')
    .map(line => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .trim()
    .replaceAll('*_/', '*/')
    .replaceAll('/_*', '/*')
    .replace(/\\(['"\\])/g, '$1')
}
