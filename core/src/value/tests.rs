//! Tables, views and updates.

use super::*;

fn matrix() -> Table {
    Table::new(&[2, 3], Leaves::Int((0..6).collect()))
}

#[test]
fn a_row_is_a_view() {
    let row = matrix().at(&[1]);
    assert!(row.same(&Table::of_int(&[3, 4, 5]).into()));
    assert!(matrix().at(&[1, 2]).same(&Value::Int(5)));
}

#[test]
fn an_update_copies_only_what_is_shared() {
    let account = Account::new(1000);
    let (owned, copied) = matrix().updated(&[0], &Table::of_int(&[7, 8, 9]).into(), &account).unwrap();
    assert_eq!((copied, account.held()), (0, 0));
    let (other, copied) = owned.clone().updated(&[1, 0], &Value::Int(0), &account).unwrap();
    assert_eq!((copied, account.held()), (48, 48));
    assert!(owned.at(&[1, 0]).same(&Value::Int(3)) && other.at(&[1, 0]).same(&Value::Int(0)));
    drop(other);
    assert_eq!(account.held(), 0);
}

#[test]
fn a_long_chain_of_cells_is_dropped_without_recursion() {
    let account = Account::new(u64::MAX / 2);
    let mut chain = Value::cell(vec![], &account).unwrap();
    for _ in 0..1_000_000 {
        chain = Value::cell(vec![Value::Int(1), chain], &account).unwrap();
    }
    drop(chain);
    assert_eq!(account.held(), 0);
}
