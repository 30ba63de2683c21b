//! Work on a thread with a large stack that can ask its maker for modules: what finds them need not leave its thread.

use std::sync::mpsc::{Receiver, Sender, channel};

use adl_diag::FileId;

use crate::imports::{Loader, Source};

/// What the work asks.
enum Question {
    Load(Vec<String>, FileId),
    Known,
}

/// What it is told.
enum Answer {
    Load(Option<Source>),
    Known(Vec<String>),
}

/// A loader that asks another thread.
struct Ask {
    questions: Sender<Question>,
    answers: Receiver<Answer>,
}

impl Ask {
    fn ask(&mut self, question: Question) -> Answer {
        self.questions.send(question).expect("the other thread waits for questions");
        self.answers.recv().expect("the other thread answers each question")
    }
}

impl Loader for Ask {
    fn load(&mut self, path: &[String], from: FileId) -> Option<Source> {
        match self.ask(Question::Load(path.to_vec(), from)) {
            Answer::Load(source) => source,
            Answer::Known(_) => None,
        }
    }

    fn known(&mut self) -> Vec<String> {
        match self.ask(Question::Known) {
            Answer::Known(names) => names,
            Answer::Load(_) => vec![],
        }
    }
}

/// Runs on a thread with room for the deepest nesting that the parser lets through.
pub(crate) fn deep<T: Send>(loader: &mut dyn Loader, work: impl FnOnce(&mut dyn Loader) -> T + Send) -> T {
    const STACK_BYTES: usize = 1 << 28;
    let (questions, asked) = channel();
    let (told, answers) = channel();
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = worker.spawn_scoped(scope, move || work(&mut Ask { questions, answers }));
        let thread = thread.expect("a thread can be started");
        // Ends when the work does, and drops its side.
        for question in asked {
            let answer = match question {
                Question::Load(path, from) => Answer::Load(loader.load(&path, from)),
                Question::Known => Answer::Known(loader.known()),
            };
            if told.send(answer).is_err() {
                break;
            }
        }
        match thread.join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
