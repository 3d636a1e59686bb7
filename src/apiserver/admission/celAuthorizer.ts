/**
 * The CEL variable `authorizer`: what the caller (or a ServiceAccount) may do besides the request at hand.
 *
 * Expressions run at once while an authorizer takes its time: a question without an answer ends the run, is answered, and
 * the expressions run again. They have no side effects, so only the last run counts.
 * @see https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-authorizer-library
 */
import type { Environment } from '@marcbachmann/cel-js'
import { questionOf } from '../auth/questions.ts'
import type { Attributes, Authorizer, Decision, UserInfo } from '../auth/types.ts'
import { serviceAccountUserName } from '../auth/users.ts'
import type { AdmissionRequest } from '../registry/admission.ts'

/** Questions of one request; more than any sensible policy asks. */
export const MAX_QUESTIONS = 100
/** Names, verbs and paths that can be right are much shorter. */
export const MAX_QUESTION_CHARACTERS = 16 * 1024

/** The answers so far, and the questions of the last run that have none. */
export class Answers {
  readonly #known: Map<string, Decision>
  readonly unanswered = new Map<string, Attributes>()

  constructor(known: readonly (readonly [question: string, answer: Decision])[] = []) {
    this.#known = new Map(known)
  }

  get known(): [question: string, answer: Decision][] {
    return [...this.#known]
  }

  /** @throws Error for a question without an answer yet, and for one that is too long to be kept */
  get(attributes: Attributes): Decision {
    const { verb, path, resource, user } = attributes
    const texts = [verb, path, user.name, ...(resource ? Object.values(resource) : [])]
    if (texts.reduce((all, text) => all + text.length, 0) > MAX_QUESTION_CHARACTERS) {
      throw new Error(`a question to the authorizer has more than ${MAX_QUESTION_CHARACTERS} characters`)
    }
    const key = JSON.stringify(attributes)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    // one more than are answered is enough to refuse them all
    if (this.unanswered.size <= MAX_QUESTIONS) this.unanswered.set(key, attributes)
    throw new Error('the authorizer has not answered yet')
  }

  async answer(authorizer: Authorizer): Promise<void> {
    if (this.#known.size + this.unanswered.size > MAX_QUESTIONS) {
      throw new Error(`expressions ask the authorizer more than ${MAX_QUESTIONS} questions`)
    }
    for (const [key, attributes] of this.unanswered) this.#known.set(key, await authorizer.authorize(attributes))
    this.unanswered.clear()
  }
}

class CelAuthorizer {
  readonly answers: Answers
  readonly space: string
  readonly user: UserInfo
  constructor(answers: Answers, space: string, user: UserInfo) {
    this.answers = answers
    this.space = space
    this.user = user
  }
  ask(verb: string, path: string, resource?: NonNullable<Attributes['resource']>): CelDecision {
    const { space, user } = this
    return new CelDecision(this.answers.get({ user, space, verb, path, ...(resource && { resource }) }))
  }
}
class Check<Subject> {
  readonly authorizer: CelAuthorizer
  readonly subject: Subject
  constructor(authorizer: CelAuthorizer, subject: Subject) {
    this.authorizer = authorizer
    this.subject = subject
  }
}
class PathCheck extends Check<string> {}
class GroupCheck extends Check<string> {}
class ResourceCheck extends Check<NonNullable<Attributes['resource']>> {
  with(more: Partial<NonNullable<Attributes['resource']>>): ResourceCheck {
    return new ResourceCheck(this.authorizer, { ...this.subject, ...more })
  }
}
class CelDecision {
  readonly decision: Decision
  constructor(decision: Decision) {
    this.decision = decision
  }
}

const A = 'kubernetes.authorization.Authorizer'
const P = 'kubernetes.authorization.PathCheck'
const G = 'kubernetes.authorization.GroupCheck'
const R = 'kubernetes.authorization.ResourceCheck'
const D = 'kubernetes.authorization.Decision'

/** Adds the variables `authorizer` and `authorizer.requestResource` (spelled as one name) with their functions. */
export function registerAuthorizer(environment: Environment): void {
  environment
    .registerType(A, CelAuthorizer)
    .registerType(P, PathCheck)
    .registerType(G, GroupCheck)
    .registerType(R, ResourceCheck)
    .registerType(D, CelDecision)
    .registerVariable('authorizer', A)
    .registerVariable(REQUEST_RESOURCE, R)
  for (const [signature, run] of Object.entries(FUNCTIONS)) {
    environment.registerFunction(signature, run as (...args: unknown[]) => unknown, { async: false } as object)
  }
}

/** How `authorizer.requestResource` is spelled for the library, which has no qualified variables. */
export const REQUEST_RESOURCE = 'authorizerRequestResource'

const FUNCTIONS: Record<string, (...args: never[]) => unknown> = {
  [`${A}.path(string): ${P}`]: (a: CelAuthorizer, path: string) => new PathCheck(a, path),
  [`${A}.group(string): ${G}`]: (a: CelAuthorizer, group: string) => new GroupCheck(a, group),
  [`${A}.serviceAccount(string, string): ${A}`]: (a: CelAuthorizer, namespace: string, name: string) =>
    new CelAuthorizer(a.answers, a.space, {
      name: serviceAccountUserName({ namespace, name }),
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    }),
  [`${P}.check(string): ${D}`]: (p: PathCheck, verb: string) => p.authorizer.ask(verb, p.subject),
  [`${G}.resource(string): ${R}`]: (g: GroupCheck, resource: string) =>
    new ResourceCheck(g.authorizer, questionOf(g.authorizer, '', { group: g.subject, resource }).resource),
  [`${R}.subresource(string): ${R}`]: (r: ResourceCheck, subresource: string) => r.with({ subresource }),
  [`${R}.namespace(string): ${R}`]: (r: ResourceCheck, namespace: string) => r.with({ namespace }),
  [`${R}.name(string): ${R}`]: (r: ResourceCheck, name: string) => r.with({ name }),
  [`${R}.check(string): ${D}`]: (r: ResourceCheck, verb: string) => r.authorizer.ask(verb, '', r.subject),
  [`${D}.allowed(): bool`]: (d: CelDecision) => d.decision.allowed,
  [`${D}.reason(): string`]: (d: CelDecision) => d.decision.reason,
  [`${D}.errored(): bool`]: (_: CelDecision) => false,
  [`${D}.error(): string`]: (_: CelDecision) => '',
}

export type AuthorizerVariables = { authorizer: unknown; [REQUEST_RESOURCE]: unknown }

/** User and target of an authorization question. */
export interface AuthorizerFacts {
  space: string
  user: UserInfo
  resource: NonNullable<Attributes['resource']>
}

export function authorizerFacts({ context, requestType, subresource, object }: AdmissionRequest): AuthorizerFacts {
  const { space, user } = context
  const { group, version, resource } = requestType
  const { namespace = '', name = '' } = object.metadata
  return { space, user, resource: { group, version, resource, subresource, namespace, name } }
}

export function authorizerVariables({ space, user, resource }: AuthorizerFacts, answers: Answers): AuthorizerVariables {
  const caller = new CelAuthorizer(answers, space, user)
  return { authorizer: caller, [REQUEST_RESOURCE]: new ResourceCheck(caller, resource) }
}

/**
 * Runs expressions until every question to the authorizer that they ask has its answer; what the last run gave counts. Without
 * questions that is the first run.
 */
export async function withAnswers<T>(authorizer: Authorizer, run: (answers: Answers) => Promise<T>): Promise<T> {
  const answers = new Answers()
  for (;;) {
    const outcome = await run(answers)
    if (answers.unanswered.size === 0) return outcome
    await answers.answer(authorizer)
  }
}

/** Outcome for a later look. */
export function attempt<T>(run: () => T): { value: T } | { error: unknown } {
  try {
    return { value: run() }
  } catch (error) {
    return { error }
  }
}
