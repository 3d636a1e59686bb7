/** `kubectl kubestellar why`: asks a workload space for the whole road of one of its objects. */

import { systemClock } from '../../../../client/clock.ts'
import { CommandError } from '../../../shell/commandError.ts'
import { type Format, printAnswer } from '../../../shell/output.ts'
import type { Terminal } from '../../../shell/terminal.ts'
import { type AnswerOptions, checkPlaces, withSpace } from '../answerSession.ts'
import { namingCauses } from '../associated/degradedCauses.ts'
import { followAnswers } from '../followAnswers.ts'
import { namingOwners } from '../namingOwners.ts'
import { why } from './why.ts'
import type { WhyAnswer } from './whyAnswer.ts'
import { Question } from './whyFacts.ts'
import { whyText } from './whyText.ts'

interface WhyOptions extends AnswerOptions {
  at?: string
  cluster?: string
  output?: Format
  watch?: boolean
}

export async function whyCommand(options: WhyOptions, terminal: Terminal, ...args: string[]): Promise<void> {
  await withSpace(options, terminal, async scope => {
    await checkPlaces(scope, terminal)
    const { at, cluster, output } = options
    if (at !== undefined) {
      if (options.watch) throw new CommandError('a revision stays as it is: leave out --watch or --at')
      const { whyAt } = await import('../../rollout/whyAtCommand.ts')
      return await whyAt(scope, { at, cluster, output }, args, terminal)
    }
    const question = await Question.of(scope, args, options.cluster)
    const answer = async () => {
      const explained = await namingCauses(why(await question.stagedFacts()), scope, args)
      return await namingOwners(explained, scope.session.client)
    }
    const print = async (answer: WhyAnswer): Promise<void> => {
      const names = () => answer.clusters.map(({ location }) => `grantedlocation/${location}`)
      await printAnswer({ document: answer, names, text: shown => whyText(answer, shown) }, output, terminal)
    }
    if (options.watch !== true) return await print(await answer())
    await followAnswers({
      clock: systemClock,
      random: Math.random,
      space: scope.space,
      watched: question.watched,
      answer,
      print,
      warn: terminal.err,
    })
  })
}
