import { Argument, type Command } from 'commander'
import { withManual } from '../console/manual.ts'
import type { Io } from '../io.ts'
import { bashScript } from './bash.ts'
import { describeProgram } from './describe.ts'
import { fishScript } from './fish.ts'
import { zshScript } from './zsh.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

/** `completion SHELL`: prints a script that completes commands, options, settings and crates. */
export function registerCompletion(program: Command, io: Io): void {
  const command = program
    .command('completion')
    .description('print a script that completes commands, options, settings and crates in a shell')
    .addArgument(
      new Argument('<shell>', 'the shell for which the script is').choices(Object.keys(SCRIPTS)),
    )
    .action((shell: keyof typeof SCRIPTS) =>
      io.out(SCRIPTS[shell](describeProgram(program)).trimEnd()),
    )
  withManual(command, {
    examples: [
      [
        'plimsoll completion bash > ~/.plimsoll.bash',
        'completes in every bash with `source ~/.plimsoll.bash` in ~/.bashrc',
      ],
      [
        'plimsoll completion zsh > ~/.plimsoll.zsh',
        'completes in every zsh with `source ~/.plimsoll.zsh` after `compinit` in ~/.zshrc',
      ],
      [
        'plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish',
        'completes in every fish',
      ],
    ],
  })
}
