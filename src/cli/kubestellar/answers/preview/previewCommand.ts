/** `kubectl kubestellar preview`: what `kubectl apply` of files would change in which clusters. */
import { text } from 'node:stream/consumers'
import { isStatusError } from '../../../../apimachinery/errors.ts'
import { objects } from '../../../../apimachinery/fields.ts'
import { messageOf } from '../../../../apimachinery/messageOf.ts'
import { didYouMean } from '../../../../apimachinery/nearest.ts'
import { apiVersionOf, groupResourceName, type KubeObject } from '../../../../apimachinery/object.ts'
import { onConflict } from '../../../../client/onConflict.ts'
import {
  type LiveWish,
  MAX_PREVIEW_BYTES,
  MAX_PREVIEW_DESTINATIONS,
  MAX_PREVIEWED,
  PLACEMENT_PREVIEWS,
} from '../../../../placement/desks/placementPreview.ts'
import {
  EDGE_API_VERSION,
  EDGE_PLACEMENTS,
  GRANTED_LOCATIONS,
  INVENTORY_BINDINGS,
  SLICES,
} from '../../../../placement/words/placement.ts'
import { CommandError } from '../../../shell/commandError.ts'
import { type Format, printAnswer } from '../../../shell/output.ts'
import type { Terminal } from '../../../shell/terminal.ts'
import { checkPlaces, type Scope, withSpace } from '../answerSession.ts'
import { Clusters } from '../clusters.ts'
import { Places } from '../destinations.ts'
import { comparing, previewExit, TOO_MANY_DELETES, TROUBLE } from '../exitCodes.ts'
import { type Known, known } from '../known.ts'
import type { FileOptions } from '../kubectlApply.ts'
import { chosenOtherwise } from './chosenLocations.ts'
import { firstApply } from './firstApply.ts'
import { changesSomething, type PreviewAnswer, readPreview, withSentences } from './preview.ts'
import { previewMarkdown } from './previewMarkdown.ts'
import { previewText } from './previewText.ts'
import { oneOfMany, questionsOf } from './questions.ts'

/** Attempts at a preview of objects that change meanwhile, such as by a status. */
export const ATTEMPTS = 5

interface PreviewOptions extends FileOptions {
  maxDeletes?: number
  output?: Format
}

/** Resolves to the exit code. */
export async function previewCommand(options: PreviewOptions, terminal: Terminal): Promise<number> {
  return await comparing(async () => {
    if (!options.filename)
      throw new CommandError('say what is to be previewed with -f FILE; "-" is standard input', TROUBLE)
    return await withSpace(options, terminal, async scope => {
      const closed = await checkPlaces(scope, terminal)
      // each attempt reads it
      const input = terminal.input ?? (options.filename?.includes('-') ? await text(process.stdin) : '')
      let words: string[] = []
      const answer = await onConflict(ATTEMPTS, async () => {
        words = []
        const collecting = { ...terminal, input, err: (line: string) => void words.push(line) }
        const would = await firstApply(scope, options, collecting).catch(async (error: unknown) => {
          for (const line of words) terminal.err(line)
          // kubectl says nothing of rights where it finds no schemas
          throw (messageOf(error).includes('openapi') ? closed : undefined) ?? (await explained(error, scope))
        })
        return await askPreview(scope, would)
      })
      const format = options.output ?? 'text'
      for (const text of noted(words, answer, format)) terminal.err(text)
      await printPreview(answer, format, terminal)
      const code = previewExit(answer, options.maxDeletes)
      if (code === TOO_MANY_DELETES)
        terminal.err(
          `Error: ${counted(answer.counts.Delete!)} would be deleted, and --max-deletes is ${options.maxDeletes}`,
        )
      return code
    })
  })
}

/** Documents hold the server's warnings themselves; elsewhere each is printed once, beside those of kubectl. */
function* noted(words: readonly string[], { objects: all }: PreviewAnswer, format: Format): Generator<string> {
  const warnings = new Set(all.flatMap(({ warnings: some = [] }) => some.map(text => `Warning: ${text}`)))
  const lines = words.flatMap(text => text.split('\n'))
  yield* lines.filter(line => !warnings.has(line))
  if (format === 'text' || format === 'wide' || format === 'name') yield* warnings
}

function counted(copies: number): string {
  return `${copies} ${copies === 1 ? 'copy' : 'copies'}`
}

/** kubectl names neither the space nor a kind that the author may have meant. */
async function explained(error: unknown, { space, path }: Scope): Promise<unknown> {
  const words = messageOf(error)
  const explanation = (more: string) => new CommandError(`${words}${more}`, TROUBLE, { cause: error })
  const [, kind] = /no matches for kind "([^"]+)"/.exec(words) ?? []
  if (kind !== undefined) {
    const served = await space.discover()
    const versions = served.filter(one => one.kind === kind).map(apiVersionOf)
    const elsewhere = versions.length === 0 ? '' : `; this space serves it as ${[...new Set(versions)].join(', ')}`
    return explanation(elsewhere || didYouMean(kind, new Set(served.map(one => one.kind))))
  }
  return words.includes('is forbidden') ? explanation(` (in space ${path})`) : error
}

/** Objects of one question, however many clusters there are. */
const LEAST = 20

/** The server is no Orrery server. */
export class NoPreviews extends CommandError {
  constructor(cause: unknown) {
    super('this server answers no PlacementPreviews', TROUBLE, { cause })
  }
}

/** @throws NoPreviews */
export async function askPreview(
  { space }: Pick<Scope, 'space'>,
  would: readonly KubeObject[],
  live?: LiveWish,
): Promise<PreviewAnswer> {
  const [granted, bindings, slices] = (await Promise.all(
    [GRANTED_LOCATIONS, INVENTORY_BINDINGS, SLICES].map(resource => known(space, resource)),
  )) as [Known, Known, Known]
  const documents: Record<string, unknown>[] = []
  const rollouts: Record<string, unknown>[] = []
  const most = Math.floor(MAX_PREVIEW_DESTINATIONS / Math.max(1, granted.items.length))
  const bounds = { most: Math.min(MAX_PREVIEWED, Math.max(LEAST, most)), bytes: MAX_PREVIEW_BYTES }
  const { questions, shared } = questionsOf(would, bounds)
  for (const [i, some] of questions.entries()) {
    const question = {
      apiVersion: apiVersionOf(PLACEMENT_PREVIEWS),
      kind: 'PlacementPreview',
      metadata: {},
      spec: { objects: some, ...(live && { live }) },
    }
    try {
      const { status } = await space.create(PLACEMENT_PREVIEWS, question)
      const answers = objects(status, 'objects')
      rollouts.push(...objects(status, 'rollouts'))
      documents.push(
        ...(questions.length === 1
          ? answers
          : oneOfMany(answers, { isFirst: i === 0, requested: some.length, shared })),
      )
    } catch (error) {
      if (!isStatusError(error, 'NotFound') || error.details?.name !== undefined) throw error
      throw new NoPreviews(error)
    }
  }
  const clusters = new Clusters(new Places(granted.items, bindings.items), slices.items)
  const answer = readPreview(documents, clusters, rollouts)
  const placements = would.filter(({ kind, apiVersion }) => kind === 'EdgePlacement' && apiVersion === EDGE_API_VERSION)
  if (placements.length === 0) return answer
  const stored = await known(space, EDGE_PLACEMENTS)
  const sentences = new Map<string, string>()
  for (const after of placements) {
    const before = stored.items.find(({ metadata }) => metadata.name === after.metadata.name)
    const sentence = chosenOtherwise(before, after, granted.items)
    if (sentence !== undefined) sentences.set(after.metadata.name ?? '', sentence)
  }
  return withSentences(answer, sentences)
}

async function printPreview(answer: PreviewAnswer, format: Format, terminal: Terminal): Promise<void> {
  if (format === 'markdown') return terminal.out(previewMarkdown(answer))
  const names = () => answer.objects.filter(changesSomething).map(one => `${groupResourceName(one)}/${one.name}`)
  await printAnswer({ document: answer, names, text: options => previewText(answer, options) }, format, terminal)
}
